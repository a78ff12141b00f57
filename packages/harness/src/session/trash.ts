/** Deleting sessions: their files move to a `trash` directory beside them and back, or are removed for good. */
import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { acquireLease, unlessMissing } from "@tau/tools/platform";
import { HarnessError } from "../errors.ts";
import { mustBeSession, pickSession, type SessionLookup } from "./find-session.ts";
import { idInFileName, isSessionFile, sessionsRoot } from "./session-directory.ts";
import { SessionManager } from "./session-manager.ts";

const trashName = "trash";

export interface MovedSession {
  /** The id in the file's name. */
  id: string;
  path: string;
}

/**
 * Moves a session to the trash. If a deleted session with the same file name is there, that one is removed for good.
 * Throws `read_only` while another process writes the session.
 */
export async function trashSession(path: string): Promise<MovedSession> {
  await checkSession(path);
  const target = join(dirname(path), trashName, basename(path));
  return await moveSession(path, target, async () => {
    if (await exists(target)) await removeFiles(target);
  });
}

/** Takes a session out of the trash. `reference` is its path there, its id, or the unique beginning of its id. */
export async function restoreSession(reference: string, lookup: SessionLookup): Promise<MovedSession> {
  const path = await findTrashed(reference, lookup);
  const target = join(dirname(dirname(path)), basename(path));
  if (await exists(target)) {
    const advice = `Import the deleted one under another id: tau sessions import ${path}`;
    throw new HarnessError("invalid_input", `The session ${idInFileName(path)} exists again. ${advice}`);
  }
  return await moveSession(path, target);
}

/** Removes a session for good. Throws `read_only` while another process writes it. */
export async function removeSession(path: string): Promise<void> {
  await checkSession(path);
  await removeFiles(path);
}

async function checkSession(path: string): Promise<void> {
  const session = await SessionManager.open(path, { access: "read" });
  await session.close();
  session.mustBeSession();
}

/** Of a message. */
const maxListed = 8;

async function findTrashed(reference: string, { cwd, agentDir, directory }: SessionLookup): Promise<string> {
  const path = resolve(cwd, reference);
  if (basename(dirname(path)) === trashName && isSessionFile(path) && (await exists(path)))
    return await mustBeSession(path);
  const root = sessionsRoot(agentDir);
  const directories = ((await unlessMissing(readdir(root))) ?? []).map((name) => join(root, name));
  const sessions: MovedSession[] = [];
  for (const parent of new Set([...(directory === undefined ? [] : [directory]), ...directories])) {
    const names = (await unlessMissing(readdir(join(parent, trashName)))) ?? [];
    const files = names.filter(isSessionFile).map((name) => join(parent, trashName, name));
    sessions.push(...files.map((file) => ({ id: idInFileName(file), path: file })));
  }
  const match = pickSession(reference, sessions);
  if (match) return match.path;
  const ids = sessions.map(({ id }) => id).slice(0, maxListed);
  const known =
    ids.length === 0 ? "" : ` Deleted sessions: ${ids.join(", ")}${sessions.length > maxListed ? ", …" : ""}.`;
  throw new HarnessError("session_not_found", `There is no deleted session ${JSON.stringify(reference)}.${known}`);
}

const exists = async (path: string): Promise<boolean> => (await unlessMissing(stat(path))) !== undefined;

/** `prepare` is called when no other process can write the session any more. */
async function moveSession(path: string, target: string, prepare = async () => {}): Promise<MovedSession> {
  await withLock(path, async (sideFiles) => {
    await prepare();
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    // The log last: until then the session is where it was.
    for (const name of sideFiles) await rename(join(dirname(path), name), join(dirname(target), name));
    await rename(path, target);
  });
  return { id: idInFileName(target), path: target };
}

const removeFiles = (path: string): Promise<void> =>
  withLock(path, async (sideFiles) => {
    // The log first: the side files are useless without it, not the other way round.
    await rm(path);
    for (const name of sideFiles) await rm(join(dirname(path), name), { recursive: true });
  });

/** Runs `work`, which takes all files of the session away, while no other process can write the session. */
async function withLock(path: string, work: (sideFiles: readonly string[]) => Promise<void>): Promise<void> {
  const lock = `${path}.lock`;
  const outcome = await acquireLease(lock);
  if (outcome.kind === "busy") {
    const advice = outcome.advice ?? "Close it there first.";
    throw new HarnessError("read_only", `The session ${path} is in use by process ${outcome.holder.pid}. ${advice}`);
  }
  try {
    const sideFiles = findSideFiles(basename(path), await readdir(dirname(path)));
    await work(sideFiles.filter((name) => !name.startsWith(basename(lock))));
  } finally {
    await outcome.lease.release();
  }
  await rm(lock);
}

/** The files that belong to a log by their names. The id of another session may begin like this one. Pure. */
function findSideFiles(log: string, names: readonly string[]): string[] {
  const candidates = names.filter((name) => name.startsWith(`${log}.`));
  const otherLogs = candidates.filter(isSessionFile);
  return candidates.filter((name) => !otherLogs.some((other) => name === other || name.startsWith(`${other}.`)));
}

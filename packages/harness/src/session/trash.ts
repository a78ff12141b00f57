/** Deleting sessions: their files move to a `trash` directory beside them and back, or are removed for good. */
import { basename, dirname, join, resolve } from "node:path";
import { type FileSystem, lookAt, nodeFileSystem } from "@tau/tools/platform";
import { listNames, removeAll, removeLogFiles, withLogLock } from "@tau/tools/storage";
import { orUndefined } from "@tau/tools/durable";
import { HarnessError } from "@tau/protocol";
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
 * Moves a session to the trash; of a symbolic link, the session that it points to. If a deleted session with the same file
 * name is there, that one is removed for good.
 * Throws `read_only` while another process writes the session.
 */
export async function trashSession(path: string, fs: FileSystem = nodeFileSystem): Promise<MovedSession> {
  await checkSession(path, fs);
  const file = (await fs.lstat(path)).isSymbolicLink() ? await fs.realpath(path) : path;
  const target = join(dirname(file), trashName, basename(file));
  return await moveSession(fs, file, target, (sideFiles) => removeLogFiles(fs, target, sideFiles));
}

/** Takes a session out of the trash. `reference` is its path there, its id, or the unique beginning of its id. */
export async function restoreSession(
  reference: string,
  lookup: SessionLookup,
  fs: FileSystem = nodeFileSystem,
): Promise<MovedSession> {
  const path = await findTrashed(reference, lookup, fs);
  const target = join(dirname(dirname(path)), basename(path));
  return await moveSession(fs, path, target, async () => {
    const advice = `Import the deleted one under another id: tau sessions import ${path}`;
    throw new HarnessError("invalid_input", `The session ${idInFileName(path)} exists again. ${advice}`);
  });
}

/** Removes a session for good. Throws `read_only` while another process writes it. */
export async function removeSession(path: string, fs: FileSystem = nodeFileSystem): Promise<void> {
  await checkSession(path, fs);
  await withLock(fs, path, (sideFiles) => removeLogFiles(fs, path, sideFiles));
}

async function checkSession(path: string, fileSystem: FileSystem): Promise<void> {
  const session = await SessionManager.open(path, { access: "read", fileSystem });
  await session.close();
  session.mustBeSession();
}

/** How many sessions an error message lists. */
const maxListed = 8;

async function findTrashed(
  reference: string,
  { cwd, agentDir, directory }: SessionLookup,
  fs: FileSystem,
): Promise<string> {
  const path = resolve(cwd, reference);
  if (basename(dirname(path)) === trashName && isSessionFile(path) && (await lookAt(fs, path)))
    return await mustBeSession(path);
  const root = sessionsRoot(agentDir);
  const directories = (await listNames(fs, root)).map((name) => join(root, name));
  const sessions: MovedSession[] = [];
  for (const parent of new Set([...(directory === undefined ? [] : [directory]), ...directories])) {
    // Files, and directories without permission, are skipped.
    const names = (await orUndefined(listNames(fs, join(parent, trashName)))) ?? [];
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

type SideFiles = readonly string[];

/** Whether a side file is the index for searches, or a draft of it. */
const isSearchIndex = (name: string): boolean => /\.jsonl\.search(?:\.[\da-f-]{36})?$/.test(name);

/** `onExisting` is called with the side files of a session that is at `target`. */
async function moveSession(
  fs: FileSystem,
  path: string,
  target: string,
  onExisting: (sideFiles: SideFiles) => Promise<void>,
): Promise<MovedSession> {
  const [from, to] = [dirname(path), dirname(target)];
  await fs.mkdir(to, { recursive: true, mode: 0o700 });
  const move = async (sideFiles: SideFiles, replaced: SideFiles) => {
    if (await lookAt(fs, target)) await onExisting(replaced);
    // The log last: until then the session is where it was.
    for (const name of sideFiles) {
      // A process that was killed in the middle of this may have left something.
      await removeAll(fs, join(to, name));
      // The words of a deleted session are nowhere but in its log.
      if (isSearchIndex(name)) await removeAll(fs, join(from, name));
      else await fs.rename(join(from, name), join(to, name));
    }
    await fs.rename(path, target);
  };
  // Nobody begins a session at the target either.
  await withLock(fs, path, (sideFiles) => withLock(fs, target, (replaced) => move(sideFiles, replaced)));
  return { id: idInFileName(target), path: target };
}

/** Runs `work` while no other process can write the session. Throws `read_only` otherwise. */
async function withLock(fs: FileSystem, path: string, work: (sideFiles: SideFiles) => Promise<void>): Promise<void> {
  const outcome = await withLogLock(fs, path, work);
  if (outcome.kind === "done") return;
  const { holder, advice = "Close it there first." } = outcome;
  throw new HarnessError("read_only", `The session ${path} is in use by ${holder.name}. ${advice}`);
}

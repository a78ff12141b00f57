/** Deleting sessions: their files move to a `trash` directory beside them and back, or are removed for good. */
import { basename, dirname, join, resolve } from "node:path";
import { acquireLease, type FileSystem, lookAt, nodeFileSystem, unlessMissing } from "@tau/tools/platform";
import { orUndefined } from "@tau/tools/durable";
import { HarnessError } from "@tau/protocol";
import { mustBeSession, pickSession, type SessionLookup } from "./find-session.ts";
import { idInFileName, isSessionFile, sessionsRoot } from "./session-directory.ts";
import { SessionManager } from "./session-manager.ts";
import { listNames } from "./session-storage.ts";

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
  return await moveSession(fs, file, target, (sideFiles) => removeFiles(fs, target, sideFiles));
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
  await withLock(fs, path, (sideFiles) => removeFiles(fs, path, sideFiles));
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
      await fs.rename(join(from, name), join(to, name));
    }
    await fs.rename(path, target);
  };
  // Nobody begins a session at the target either.
  await withLock(fs, path, (sideFiles) => withLock(fs, target, (replaced) => move(sideFiles, replaced)));
  return { id: idInFileName(target), path: target };
}

/** The log first: the side files are useless without it, not the other way round. */
async function removeFiles(fs: FileSystem, path: string, sideFiles: SideFiles): Promise<void> {
  await fs.unlink(path);
  for (const name of sideFiles) await removeAll(fs, join(dirname(path), name));
}

/** Removes a file, or a directory with all that is in it, if it exists. */
async function removeAll(fs: FileSystem, path: string): Promise<void> {
  const stats = await unlessMissing(fs.lstat(path));
  if (!stats) return;
  if (!stats.isDirectory()) return await fs.unlink(path);
  for (const { name } of await fs.readdir(path)) await removeAll(fs, join(path, name));
  await fs.rmdir?.(path);
}

/** Runs `work`, which takes all files of a session away or puts them there, while no other process can write the session. */
async function withLock(fs: FileSystem, path: string, work: (sideFiles: SideFiles) => Promise<void>): Promise<void> {
  const lock = `${path}.lock`;
  const outcome = await acquireLease(lock, { fileSystem: fs });
  if (outcome.kind === "busy") {
    const advice = outcome.advice ?? "Close it there first.";
    throw new HarnessError("read_only", `The session ${path} is in use by process ${outcome.holder.pid}. ${advice}`);
  }
  const { lease } = outcome;
  try {
    await work(findSideFiles(basename(path), await listNames(fs, dirname(path))));
  } catch (error) {
    await orUndefined(lease.release().catch(() => fs.unlink(lock)));
    throw error;
  }
  // While the lease is ours: after a release it could be the lock of another process.
  await orUndefined(fs.unlink(lock).catch(() => lease.release()));
}

/**
 * Matches what follows the name of a log in the names of its side files: the index, long results, a torn end, the log before
 * it was upgraded or repaired, and drafts of these, which a killed process may leave.
 */
const sideFileSuffix = /^(?:(?:idx|results|(?:torn|old|damaged)-[^.]+)(?:\.[\da-f-]{36})?|[\da-f-]{36})$/;

/** The files that belong to a log by their names. Others, such as a copy `LOG.bak`, are the user's own. Pure. */
const findSideFiles = (log: string, names: readonly string[]): string[] =>
  names.filter((name) => name.startsWith(`${log}.`) && sideFileSuffix.test(name.slice(log.length + 1)));

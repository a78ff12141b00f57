/** Replaces a file's content: written to a temporary file and renamed over it, so that every reader sees the old or the new. */
import { constants, type Stats } from "node:fs";
import { basename, join } from "node:path";
import { failsWith, tolerate, ToolsError, unlessMissing } from "../errors.ts";
import { getKind } from "./explain.ts";
import { lookAt, type OpenHandle } from "./file-system.ts";
import { ask } from "./guard.ts";
import { getWriter, nameTemporary } from "./temporary-name.ts";
import { changed, type FilesState, type HeldDirectory, lookUp, makeDirectories, openNearest } from "./open-path.ts";
import { thisProcess, verdictOn } from "./process-mark.ts";

export interface WriteOptions {
  /** The stamp of a reading, or `missingStamp`: refused with `overtaken` if the file is in another state. */
  ifUnchanged?: string;
  /** The mode of a file that did not exist. Default: as the system decides. */
  mode?: number;
  /** Refuses a path that leads elsewhere through a link. */
  isReal?: boolean;
}

export async function writeWhole(state: FilesState, path: string, bytes: Uint8Array, options: WriteOptions) {
  const target = await lookUp(state, path, "write");
  if (options.isReal && target !== path) throw changed(path);
  const name = basename(target);
  if (name === "") throw new ToolsError("not_a_file", `${path} is a directory, not a file.`);
  const { existing, directory } = await openForWriting(state, target, path);
  try {
    const stamp = await replace(state, directory, { ...options, name, bytes, existing });
    // The file is written, whether or not the cleaning up succeeds.
    await Promise.allSettled([sweep(state, directory)]);
    return { realPath: target, created: existing === undefined, stamp };
  } finally {
    await directory.handle.close();
  }
}

/** Creates nothing before the guard has agreed. */
async function openForWriting(state: FilesState, target: string, path: string) {
  const { directory, missing } = await openNearest(state, target, path);
  let existing: Stats | undefined;
  try {
    const here = join(directory.path, basename(target));
    existing = missing.length > 0 ? undefined : await unlessMissing(state.fs.lstat(here));
    await ask(state.guard, target, "write", existing?.nlink);
    // It was no link when its real path was looked up.
    if (existing?.isSymbolicLink()) throw changed(path);
    if (existing && !existing.isFile()) {
      throw new ToolsError("not_a_file", `${path} is ${getKind(existing)}, not a file.`);
    }
  } catch (error) {
    await directory.handle.close();
    throw error;
  }
  return { existing, directory: await makeDirectories(state, directory, missing, path) };
}

interface Replacement extends WriteOptions {
  name: string;
  bytes: Uint8Array;
  existing: Stats | undefined;
}

/** Returns the stamp of the file, unless another process has changed it since. */
async function replace(
  state: FilesState,
  directory: HeldDirectory,
  { name, bytes, existing, ifUnchanged, mode }: Replacement,
): Promise<string | undefined> {
  const { fs } = state;
  const path = join(directory.path, name);
  const temporary = join(directory.path, nameTemporary(thisProcess(), state.ids()));
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  // Until it has its final owner, only we may read it.
  const handle = await fs.open(temporary, flags, existing ? 0o600 : 0o666);
  let written: { stats: Stats; isPlain: boolean };
  try {
    try {
      const own = await handle.stat();
      await handle.write(bytes);
      const isPlain = !existing || (await keepAttributes(state, path, existing, handle));
      if (existing) await keepOwnerAndMode(handle, existing, own);
      else if (mode !== undefined) await handle.chmod(mode & 0o777);
      await handle.sync();
      written = { stats: await handle.stat(), isPlain };
    } finally {
      // Before it gets its name: a file that is open for writing cannot be executed.
      await handle.close();
    }
    await refuseChanged(state, path, name, ifUnchanged);
    await fs.rename(temporary, path);
  } catch (error) {
    await unlessMissing(fs.unlink(temporary));
    throw error;
  }
  const stamp = await findStamp(state, path, written.stats);
  // Some file systems cannot sync a directory, and do not need to.
  await tolerate(directory.handle.sync(), "EINVAL", "ENOTSUP");
  if (written.isPlain && stamp !== undefined && fs.copyAttributes) rememberPlain(state, stamp);
  return stamp;
}

const maxSweptDirectories = 1_000;

/** Removes temporary files of killed writes. Once for each directory: reading a large one takes long. */
async function sweep({ fs, swept }: FilesState, { path, realPath }: HeldDirectory): Promise<void> {
  if (swept.has(realPath) || swept.size >= maxSweptDirectories) return;
  swept.add(realPath);
  const ours = thisProcess();
  for (const { name } of await fs.readdir(path)) {
    const mark = getWriter(name, ours);
    if (mark && verdictOn(mark) === "gone") await unlessMissing(fs.unlink(join(path, name)));
  }
}

/** Distinguishes one state of a file from later ones. */
export const getStamp = ({ dev, ino, size, mtimeMs, ctimeMs }: Stats) => [dev, ino, size, mtimeMs, ctimeMs].join(":");

/** Instead of the stamp of a file that does not exist. */
export const missingStamp = "missing";

/** Called right before the rename, and without a detour over a thread, so that hardly any time is left for other writers. */
export async function refuseChanged(
  { fs }: FilesState,
  path: string,
  name: string,
  stamp: string | undefined,
): Promise<void> {
  if (stamp === undefined) return;
  const now = await lookAt(fs, path);
  if ((now ? getStamp(now) : missingStamp) === stamp) return;
  throw new ToolsError(
    "overtaken",
    `${name} was ${stamp === missingStamp ? "created" : "changed"} by another process meanwhile. Nothing was written; read it first.`,
  );
}

/** True when there was nothing to keep. Every change of attributes changes the stamp too. */
async function keepAttributes(
  { fs, plain }: FilesState,
  path: string,
  existing: Stats,
  to: OpenHandle,
): Promise<boolean> {
  if (!fs.copyAttributes || plain.has(getStamp(existing))) return true;
  // A file that may be replaced need not be readable.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
  const from = await tolerate(fs.open(path, flags), "EACCES");
  if (!from) return false;
  try {
    return !(await fs.copyAttributes(from, to));
  } finally {
    await from.close();
  }
}

const maxRemembered = 1_000;

function rememberPlain({ plain }: FilesState, stamp: string): void {
  const [oldest] = plain;
  if (oldest !== undefined && plain.size >= maxRemembered) plain.delete(oldest);
  plain.add(stamp);
}

/** After the rename, which changes the stamp. By then another process may have given the name to another file. */
async function findStamp({ fs }: FilesState, path: string, written: Stats): Promise<string | undefined> {
  // The file is written, whether or not it can be looked at.
  const [look] = await Promise.allSettled([lookAt(fs, path)]);
  const now = look.status === "fulfilled" ? look.value : undefined;
  return now && getContent(now) === getContent(written) ? getStamp(now) : undefined;
}

/** Distinguishes one content of one file from all others; an inode number alone is soon reused for another file. */
const getContent = ({ dev, ino, size, mtimeMs }: Stats) => [dev, ino, size, mtimeMs].join(":");

async function keepOwnerAndMode(handle: OpenHandle, existing: Stats, own: Stats): Promise<void> {
  let [uid, gid] = [own.uid, own.gid];
  if (uid !== existing.uid && (await couldChown(handle, existing.uid, existing.gid))) {
    [uid, gid] = [existing.uid, existing.gid];
  }
  // Only root may change the owner, but every user may change the group to another of their own.
  if (gid !== existing.gid && (await couldChown(handle, -1, existing.gid))) gid = existing.gid;
  // Last, since changing the owner clears bits of the mode.
  await handle.chmod(keptMode(existing, { uid, gid }));
}

/** A refusal is no failure: the content matters more than the owner. */
const couldChown = async (handle: OpenHandle, uid: number, gid: number): Promise<boolean> =>
  !(await failsWith("EPERM", handle.chown(uid, gid)));

/**
 * The mode of a file whose content is replaced: the old one, unless the owner or the group could not be kept. Then the
 * setuid and setgid bits are cleared, and another group gets no more than all others. Pure.
 */
export function keptMode(
  existing: { mode: number; uid: number; gid: number },
  now: { uid: number; gid: number },
): number {
  const mode = existing.mode & 0o7777;
  if (existing.uid === now.uid && existing.gid === now.gid) return mode;
  const asOthers = existing.gid === now.gid ? 0o777 : 0o707 | ((mode & 0o007) << 3);
  return mode & 0o1777 & (0o1000 | asOthers);
}

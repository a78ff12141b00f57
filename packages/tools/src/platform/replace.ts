/** Replacing a file's content: written beside it and renamed over it, so that whoever looks sees the old or the new. */
import { constants, type Stats } from "node:fs";
import { basename, join } from "node:path";
import { systemCode, ToolsError } from "../errors.ts";
import { getKind, unlessMissing } from "./explain.ts";
import { lookAt, type OpenHandle } from "./file-system.ts";
import { ask } from "./guard.ts";
import { leftBy, nameTemporary } from "./leftover.ts";
import { changed, type Ground, type HeldDirectory, lookUp, makeDirectories, openNearest } from "./place.ts";
import { thisProcess, verdictOn } from "./running.ts";

export async function writeWhole(ground: Ground, path: string, bytes: Uint8Array, ifUnchanged: string | undefined) {
  const target = await lookUp(ground, path, "write");
  const name = basename(target);
  const { existing, directory } = await openForWriting(ground, target, path);
  try {
    await replace(ground, directory, { name, bytes, existing, ifUnchanged });
    // The file is written, whatever becomes of the rubbish.
    await Promise.allSettled([sweep(ground, directory)]);
    return { realPath: target, created: existing === undefined };
  } finally {
    await directory.handle.close();
  }
}

/** Nothing is made before the guard has agreed. */
async function openForWriting(ground: Ground, target: string, path: string) {
  const { directory, missing } = await openNearest(ground, target, path);
  let existing: Stats | undefined;
  try {
    const here = join(directory.path, basename(target));
    existing = missing.length > 0 ? undefined : await unlessMissing(ground.fs.lstat(here));
    await ask(ground.guard, target, "write", existing?.nlink);
    // It was no link when its real path was looked up.
    if (existing?.isSymbolicLink()) throw changed(path);
    if (existing && !existing.isFile()) {
      throw new ToolsError("not_a_file", `${path} is ${getKind(existing)}, not a file.`);
    }
  } catch (error) {
    await directory.handle.close();
    throw error;
  }
  return { existing, directory: await makeDirectories(ground, directory, missing, path) };
}

interface Replacement {
  name: string;
  bytes: Uint8Array;
  existing: Stats | undefined;
  ifUnchanged: string | undefined;
}

async function replace(
  ground: Ground,
  directory: HeldDirectory,
  { name, bytes, existing, ifUnchanged }: Replacement,
): Promise<void> {
  const { fs } = ground;
  const path = join(directory.path, name);
  const temporary = join(directory.path, nameTemporary(thisProcess(), ground.ids()));
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  // Until it belongs to whom it will belong to, only we may look into it.
  const handle = await fs.open(temporary, flags, existing ? 0o600 : 0o666);
  let written: { stats: Stats; isPlain: boolean };
  try {
    try {
      const own = await handle.stat();
      await handle.write(bytes);
      const isPlain = !existing || (await keepAttributes(ground, path, existing, handle));
      if (existing) await keepOwnerAndMode(handle, existing, own);
      await handle.sync();
      written = { stats: await handle.stat(), isPlain };
    } finally {
      // Before it gets its name: nobody can execute a file that is open for writing.
      await handle.close();
    }
    await refuseChanged(ground, path, name, ifUnchanged);
    await fs.rename(temporary, path);
  } catch (error) {
    await unlessMissing(fs.unlink(temporary));
    throw error;
  }
  await syncDirectory(directory.handle);
  if (written.isPlain) await rememberPlain(ground, path, written.stats);
}

const maxSweptEntries = 1_000;

/** Removes what killed writes left beside a file. Once for each directory: looking through a large one takes its time. */
async function sweep({ fs, swept }: Ground, { path, realPath }: HeldDirectory): Promise<void> {
  if (swept.has(realPath) || swept.size >= maxSweptEntries) return;
  swept.add(realPath);
  const ours = thisProcess();
  for (const { name } of await fs.readdir(path)) {
    const mark = leftBy(name, ours);
    if (mark && verdictOn(mark) === "gone") await unlessMissing(fs.unlink(join(path, name)));
  }
}

/** Some file systems cannot do it, and need not. */
async function syncDirectory(handle: OpenHandle): Promise<void> {
  try {
    await handle.sync();
  } catch (error) {
    const code = systemCode(error);
    if (code !== "EINVAL" && code !== "ENOTSUP") throw error;
  }
}

/** Tells one state of a file from later ones. */
export const getStamp = ({ dev, ino, size, mtimeMs, ctimeMs }: Stats) => [dev, ino, size, mtimeMs, ctimeMs].join(":");

/**
 * As late as it can be looked at: between this and the renaming there is no time for anybody, and less without the detour
 * over a thread.
 */
async function refuseChanged({ fs }: Ground, path: string, name: string, stamp: string | undefined): Promise<void> {
  if (stamp === undefined) return;
  const now = await lookAt(fs, path);
  if (now && getStamp(now) === stamp) return;
  throw new ToolsError(
    "overtaken",
    `${name} was changed by somebody else meanwhile. Nothing was written; read it again.`,
  );
}

/** Says whether there was nothing to keep. Whoever changes attributes changes the stamp. */
async function keepAttributes({ fs, plain }: Ground, path: string, existing: Stats, to: OpenHandle): Promise<boolean> {
  if (!fs.copyAttributes || plain.has(getStamp(existing))) return true;
  let from: OpenHandle;
  try {
    from = await fs.open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch (error) {
    // What may be replaced need not be readable.
    if (systemCode(error) === "EACCES") return false;
    throw error;
  }
  try {
    return !(await fs.copyAttributes(from, to));
  } finally {
    await from.close();
  }
}

const maxRemembered = 1_000;

/** Renaming changes the stamp, so after that; somebody else may have given the name to another file by then. */
async function rememberPlain({ fs, plain }: Ground, path: string, written: Stats): Promise<void> {
  const now = fs.copyAttributes && (await lookAt(fs, path));
  if (!now || getContent(now) !== getContent(written)) return;
  const [oldest] = plain;
  if (oldest !== undefined && plain.size >= maxRemembered) plain.delete(oldest);
  plain.add(getStamp(now));
}

/** Tells one content of one file from all others; a number alone is soon given to another file. */
const getContent = ({ dev, ino, size, mtimeMs }: Stats) => [dev, ino, size, mtimeMs].join(":");

async function keepOwnerAndMode(handle: OpenHandle, existing: Stats, own: Stats): Promise<void> {
  let [uid, gid] = [own.uid, own.gid];
  if (uid !== existing.uid && (await couldChown(handle, existing.uid, existing.gid))) {
    [uid, gid] = [existing.uid, existing.gid];
  }
  // Only the owner of everything may give files away, but to a group of theirs anybody may.
  if (gid !== existing.gid && (await couldChown(handle, -1, existing.gid))) gid = existing.gid;
  // Last, since giving a file away takes bits from its mode.
  await handle.chmod(keptMode(existing, { uid, gid }));
}

/** The content matters more than whose it is. */
async function couldChown(handle: OpenHandle, uid: number, gid: number): Promise<boolean> {
  try {
    await handle.chown(uid, gid);
    return true;
  } catch (error) {
    if (systemCode(error) === "EPERM") return false;
    throw error;
  }
}

/**
 * The mode of a file whose content is replaced: what it was, unless the owner or the group could not be kept. Then
 * nobody runs it as somebody else any more, and another group gets no more than everybody. Pure.
 */
export function keptMode(
  existing: { mode: number; uid: number; gid: number },
  now: { uid: number; gid: number },
): number {
  const mode = existing.mode & 0o7777;
  if (existing.uid === now.uid && existing.gid === now.gid) return mode;
  const asEverybody = existing.gid === now.gid ? 0o777 : 0o707 | ((mode & 0o007) << 3);
  return mode & 0o1777 & (0o1000 | asEverybody);
}

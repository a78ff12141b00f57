/** Looks at and changes single files of a workspace, following no link. Paths are relative to it, with slashes. */
import { constants, type Stats } from "node:fs";
import {
  type FileHandle,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  rename,
  rmdir,
  symlink,
  unlink,
} from "node:fs/promises";
import { closeAfter } from "@tau/ai/internal";
import { tolerate, unlessMissing } from "@tau/tools/platform";
import { UndoError } from "./failure.ts";
import type { FileState, MaybeState } from "./file-state.ts";
import { type HeldDirectory, withDirectory } from "./held-directory.ts";
import { isExecutableMode } from "./keeping-rules.ts";
import type { Place } from "./plan-changes.ts";

interface ReadState {
  readonly state: MaybeState;
  /** The content of a file, or the path of a link. */
  readonly bytes?: Buffer;
}

/** Stands for a file that is larger than what is kept, and of what is neither a file, a link nor a directory. Equals no content of a store. */
const unreadable: FileState = { kind: "file", id: "unreadable", isExecutable: false };

interface ReadOptions {
  maxBytes: number;
  identify: (bytes: Uint8Array, kind: "file" | "link") => string;
}

const split = (path: string) => {
  const names = path.split("/");
  return { names: names.slice(0, -1), name: names.at(-1)! };
};

export const inParent = <T>(
  root: string,
  path: string,
  work: (parent: HeldDirectory | undefined, name: string) => Promise<T>,
): Promise<T> => {
  const { names, name } = split(path);
  return withDirectory(root, names, (parent) => work(parent, name));
};

/** Reads what is there. A directory with something in it, and what is behind a link, is nothing. */
export async function readState(root: string, path: string, options: ReadOptions): Promise<ReadState> {
  return await inParent(root, path, async (parent, name) =>
    parent ? await readNamed(`${parent.path}/${name}`, options) : { state: undefined },
  );
}

async function readNamed(path: string, { maxBytes, identify }: ReadOptions): Promise<ReadState> {
  const stats = await unlessMissing(lstat(path));
  if (!stats) return { state: undefined };
  if (stats.isSymbolicLink()) {
    const bytes = await readlink(path, { encoding: "buffer" });
    return { state: { kind: "link", id: identify(bytes, "link") }, bytes };
  }
  if (stats.isDirectory()) {
    const names = await readdir(path);
    return { state: names.length === 0 ? { kind: "directory" } : undefined };
  }
  if (!stats.isFile() || stats.size > maxBytes) return { state: unreadable };
  const bytes = await readSteadily(path, maxBytes);
  if (!bytes) return { state: unreadable };
  const isExecutable = isExecutableMode(stats.mode);
  return { state: { kind: "file", id: identify(bytes, "file"), isExecutable, mode: stats.mode & 0o777 }, bytes };
}

const maxReads = 3;

/** Undefined for a file that is changed each time while it is read. */
async function readSteadily(path: string, maxBytes: number): Promise<Buffer | undefined> {
  for (let reads = 0; reads < maxReads; reads++) {
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    const bytes = await closeAfter(handle, () => readOnce(handle, maxBytes));
    if (bytes) return bytes;
  }
  return undefined;
}

async function readOnce(handle: FileHandle, maxBytes: number): Promise<Buffer | undefined> {
  const before = await handle.stat();
  if (!before.isFile() || before.size > maxBytes) return undefined;
  const bytes = await handle.readFile();
  return getStamp(before) === getStamp(await handle.stat()) ? bytes : undefined;
}

/** Distinguishes states of a file by what the system says of it. */
export const getStamp = ({ ino, size, mtimeMs, ctimeMs }: Stats): string => [ino, size, mtimeMs, ctimeMs].join(":");

export async function lookAtPlace(root: string, path: string): Promise<Place> {
  return await inParent(root, path, async (parent, name) => {
    const stats = parent && (await unlessMissing(lstat(`${parent.path}/${name}`)));
    if (!stats) return "missing";
    return stats.isDirectory() ? "directory" : "other";
  });
}

interface NewFile {
  name: string;
  temporary: string;
  bytes: Uint8Array;
  isExecutable: boolean;
  /** Undefined: as the system decides. */
  mode: number | undefined;
}

/** Writes a file under a temporary name, and puts it in its place. A file that was there keeps its owner where that is allowed. */
export async function writeFileAt(parent: HeldDirectory, { name, temporary, bytes, ...file }: NewFile): Promise<void> {
  const [draft, path] = [`${parent.path}/${temporary}`, `${parent.path}/${name}`];
  const existing = await unlessMissing(lstat(path));
  const creating = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const handle = await open(draft, creating, file.mode === undefined ? (file.isExecutable ? 0o777 : 0o666) : 0o600);
  try {
    await closeAfter(handle, async () => {
      await handle.writeFile(bytes);
      const own = await handle.stat();
      if (existing && (existing.uid !== own.uid || existing.gid !== own.gid))
        await tolerate(handle.chown(existing.uid, existing.gid), "EPERM");
      if (file.mode !== undefined) await handle.chmod(file.mode);
      await handle.sync();
    });
    await rename(draft, path);
  } catch (error) {
    await unlessMissing(unlink(draft));
    throw error;
  }
}

export async function writeLinkAt(
  parent: HeldDirectory,
  { name, temporary, target }: { name: string; temporary: string; target: Buffer },
): Promise<void> {
  const draft = `${parent.path}/${temporary}`;
  await symlink(target, draft);
  await rename(draft, `${parent.path}/${name}`);
}

export const removeFileAt = (parent: HeldDirectory, name: string): Promise<void> => unlink(`${parent.path}/${name}`);

/** Removes what a killed process left. */
export const removeLeftoverAt = async (parent: HeldDirectory, name: string): Promise<void> =>
  void (await unlessMissing(unlink(`${parent.path}/${name}`)));

/** A directory that is there already stays. */
export const makeDirectoryAt = async (root: string, path: string): Promise<void> =>
  await inParent(root, path, async (parent, name) => {
    if (!parent) throw new UndoError(`${path} cannot be made: what is above it is no directory.`);
    await tolerate(mkdir(`${parent.path}/${name}`), "EEXIST");
  });

/** A directory with something in it stays. */
export const removeDirectoryAt = async (root: string, path: string): Promise<void> =>
  await inParent(root, path, async (parent, name) => {
    if (parent) await tolerate(rmdir(`${parent.path}/${name}`), "ENOENT", "ENOTEMPTY", "EEXIST", "ENOTDIR", "EBUSY");
  });

/** Lists everything below a directory that is not a directory itself, and directories without anything in them. */
export async function listBelow(root: string, path: string): Promise<string[]> {
  const entries = await withDirectory(root, path.split("/"), async (directory) =>
    directory ? await readdir(directory.path, { withFileTypes: true }) : [],
  );
  if (entries.length === 0) return [path];
  const lists = entries.map((entry) => {
    const below = `${path}/${entry.name}`;
    return entry.isDirectory() ? listBelow(root, below) : [below];
  });
  return (await Promise.all(lists)).flat();
}

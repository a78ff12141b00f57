/** Files that an extension changes, or that it cannot see itself. Each path is judged, and checked again when it is opened. */
import { lstat, mkdir, rename, rm, rmdir, stat, unlink } from "node:fs/promises";
import { isAbsolute, resolve } from "node:path";
import { type AccessRequest, createFileQueue, type Files } from "@tau/tools";
import { getErrorMessage } from "@tau/ai/internal";
import { systemCode, unlessMissing } from "@tau/tools/platform";
import { type Args, HostcallFault, type HostcallRun, type Hostcalls, takeRecord, takeText } from "./hostcall.ts";

const maxFileBytes = 16 * 1024 * 1024;

function takePath(value: unknown): string {
  const path = takeText(value, "The path");
  if (isAbsolute(path) && !path.includes("\0")) return path;
  throw new HostcallFault("invalid_request", "The path must be absolute.");
}

const toBytes = (value: unknown): Buffer => Buffer.from(takeText(value, "The content"), "base64");

/**
 * Shared by all isolated extensions. An append replaces the whole file, so what else is written to it meanwhile would
 * be lost.
 */
const queue = createFileQueue();

/** `isExclusive`: the file must not exist. */
async function replace(
  run: HostcallRun,
  path: string,
  { create, isExclusive = false }: { create: (files: Files) => Buffer | Promise<Buffer>; isExclusive?: unknown },
): Promise<void> {
  const files = run.files();
  await queue.run(await atRealPath(run, path), async () => {
    await files.writeWhole(path, await create(files), isExclusive === true ? { ifUnchanged: "missing" } : {});
  });
}

type Change = (path: string, args: Args, run: HostcallRun) => Promise<unknown>;

/** Writing a directory entry is not done through the files of a call, so its real path is asked for first. */
const atRealPath = async ({ files }: HostcallRun, path: string): Promise<string> =>
  await files().realPath(path, "write");

/**
 * The real path of what is removed or moved. A link itself would be, and it is judged by what it leads to: neither may
 * happen to the other.
 */
async function atOwnPath(run: HostcallRun, path: string): Promise<string> {
  const realPath = await atRealPath(run, path);
  const stats = await unlessMissing(lstat(resolve(path)));
  if (stats?.isSymbolicLink()) throw new HostcallFault("denied", "Removing or moving a link needs trust.");
  return realPath;
}

const changes: Readonly<Record<string, Change>> = {
  async writeFile(path, [content, isExclusive], run) {
    const bytes = toBytes(content);
    run.spend(run.quota.countWritten(bytes.length));
    await replace(run, path, { create: () => bytes, isExclusive });
  },
  async appendFile(path, [content], run) {
    const bytes = toBytes(content);
    run.spend(run.quota.countWritten(bytes.length));
    const create = async (files: Files) => {
      const isThere = (await files.stat(path)) !== undefined;
      const before = isThere ? (await files.readWhole(path, maxFileBytes)).bytes : Buffer.alloc(0);
      return Buffer.concat([before, bytes]);
    };
    await replace(run, path, { create });
  },
  mkdir: async (path, [options], run) => {
    const { recursive } = takeRecord(options, "The options");
    await mkdir(await atRealPath(run, path), { recursive: recursive === true });
  },
  rm: async (path, [options], run) => {
    const { recursive, force } = takeRecord(options, "The options");
    if (recursive === true) throw new HostcallFault("denied", "Removing a whole directory needs trust.");
    await rm(await atOwnPath(run, path), { force: force === true });
  },
  rmdir: async (path, _args, run) => await rmdir(await atOwnPath(run, path)),
  unlink: async (path, _args, run) => await unlink(await atOwnPath(run, path)),
  rename: async (path, [to], run) => {
    const [source, target] = [await atOwnPath(run, path), await atRealPath(run, takePath(to))];
    // What is in a directory may be protected by name, so only files are moved.
    if (!(await stat(source)).isFile()) throw new HostcallFault("denied", "Moving a directory needs trust.");
    await rename(source, target);
  },
  copyFile: async (path, [to, isExclusive], run) => {
    const { bytes } = await run.files().readWhole(path, maxFileBytes);
    run.spend(run.quota.countWritten(bytes.length));
    await replace(run, takePath(to), { create: () => bytes, isExclusive });
  },
};

/** Adds the code of the system at the end of the sentence, for the extension. */
async function explaining<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof HostcallFault) throw error;
    const known = systemCode(error);
    if (known === "denied") throw new HostcallFault("denied", getErrorMessage(error));
    const code = known === undefined ? undefined : (codes[known] ?? known);
    throw new HostcallFault("io", `${getErrorMessage(error)}${code === undefined ? "" : ` (${code})`}`);
  }
}

/** Codes of our own files, as the system would say them. */
const codes: Readonly<Record<string, string>> = {
  not_found: "ENOENT",
  not_a_file: "EISDIR",
  not_a_directory: "ENOTDIR",
  overtaken: "EEXIST",
};

const wants = (capability: "read" | "write", path: unknown): AccessRequest => ({
  capability,
  target: { kind: "path", path: takePath(path) },
});

export const fileCalls: Hostcalls = {
  "files.read": {
    access: ([path]) => [wants("read", path)],
    isEarly: true,
    run: async ([path], { files }) =>
      (await explaining(files().readWhole(takePath(path), maxFileBytes))).bytes.toString("base64"),
  },
  "files.change": {
    access: ([name, path, other]) => {
      if (name === "copyFile") return [wants("read", path), wants("write", other)];
      return name === "rename" ? [wants("write", path), wants("write", other)] : [wants("write", path)];
    },
    isEarly: true,
    run: async ([name, path, ...args], run) => {
      const change = typeof name === "string" && Object.hasOwn(changes, name) ? changes[name] : undefined;
      if (!change) throw new HostcallFault("invalid_request", "There is no such change.");
      return await explaining(change(takePath(path), args, run));
    },
  },
  "files.refused": {
    access: ([, operation, path]) => [wants(operation === "read" ? "read" : "write", path)],
    isEarly: true,
    refuses: ([name, , path]) =>
      `${String(name)} cannot be used on ${String(path)}: this extension is not trusted. Read and write whole files with readFile and writeFile, or work in the directory for temporary files.`,
  },
};

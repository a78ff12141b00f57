/**
 * `node:fs` of an extension. What is mounted can be read as always. Changes, and files that are not mounted, go to the host,
 * where the policy decides about each path. Code that finds a way around this meets a read-only file system.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { resolve } from "node:path";
import { Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { isWithin } from "@tau/tools/platform";
import { isProjectSecret } from "@tau/sandbox/internal";
import { HostcallError, type HostLink } from "./link.ts";

interface FilePlaces {
  /** Can be read as they are. */
  visible: readonly string[];
  /** The project, if it is visible. Files with secrets in it are left to the host. */
  workspace?: string;
  /** Can be changed as they are. */
  temporary: string;
}

type AnyFunction = (...args: never[]) => unknown;
type Operation = "read" | "write";

/** A request to the host, and what its answer becomes. */
interface HostWork {
  method: string;
  args: unknown[];
  decode?: (value: unknown) => unknown;
}

/** Functions that the host does not offer to an extension: it would have to hold descriptors for it, or make links. */
const refused = {
  read: ["readdir", "opendir"],
  write: ["truncate", "symlink", "link", "chmod", "chown", "utimes", "mkdtemp", "cp"],
} as const;

export function replaceFiles(link: HostLink, places: FilePlaces): void {
  const toPath = (value: unknown): string | undefined => {
    if (value instanceof URL) return resolve(fileURLToPath(value));
    return typeof value === "string" || Buffer.isBuffer(value) ? resolve(String(value)) : undefined;
  };
  // The workspace may be in a directory for temporary files.
  const isSecret = (path: string): boolean =>
    places.workspace !== undefined && isWithin(places.workspace, path) && isProjectSecret(path);
  const isMounted = (path: string): boolean =>
    places.visible.some((directory) => isWithin(directory, path)) && !isSecret(path);
  const isOwn = (path: string): boolean => isWithin(places.temporary, path) && !isMounted(path);
  const isVisible = (path: string): boolean =>
    isOwn(path) || isMounted(path) || kernelDirectories.some((directory) => isWithin(directory, path));
  /** Whether the host has to do it; undefined if the system can. */
  const findPath = (value: unknown, operation: Operation): string | undefined => {
    const path = toPath(value);
    if (path === undefined) return undefined;
    return (operation === "read" ? isVisible(path) : isOwn(path)) ? undefined : path;
  };

  for (const name of ["mkdir", "rm", "rmdir", "unlink"] as const) {
    overrideAll(name, ([value, options]) => {
      const path = findPath(value, "write");
      if (path === undefined) return undefined;
      const { recursive, force } = (options ?? {}) as { recursive?: boolean; force?: boolean };
      return toChange(name, path, { recursive: recursive === true, force: force === true });
    });
  }
  for (const [name, defaultFlag] of [
    ["writeFile", "w"],
    ["appendFile", "a"],
  ] as const) {
    overrideAll(name, ([value, content, options]) => {
      const path = findPath(value, "write");
      if (path === undefined) return undefined;
      const { encoding, flag = defaultFlag } = toWriteOptions(options);
      return planWrite(name, path, { bytes: toBytes(content, encoding), flag });
    });
  }
  overrideAll("copyFile", ([source, target, mode]) => {
    const [from, to] = [findPath(source, "read"), findPath(target, "write")];
    const isExclusive = typeof mode === "number" && (mode & fs.constants.COPYFILE_EXCL) !== 0;
    const flag = isExclusive ? "wx" : "w";
    if (from !== undefined && to !== undefined) return toChange("copyFile", from, to, isExclusive);
    // What only this process sees is read or written here.
    if (to !== undefined) return planWrite("copyFile", to, { bytes: fs.readFileSync(source as fs.PathLike), flag });
    if (from === undefined) return undefined;
    const decode = (value: unknown) => fs.writeFileSync(target as fs.PathLike, fromBase64(value), { flag });
    return { method: "files.read", args: [from], decode };
  });
  overrideAll("rename", ([source, target]) => {
    const [from, to] = [findPath(source, "write"), findPath(target, "write")];
    // From or to a file that only this process sees, the system says EXDEV, and programs copy instead.
    return from === undefined || to === undefined ? undefined : toChange("rename", from, to);
  });
  overrideAll("readFile", (args) => {
    const path = findPath(args[0], "read");
    if (path === undefined) return undefined;
    const options: unknown = args[1];
    const encoding = typeof options === "string" ? options : (options as { encoding?: string } | undefined)?.encoding;
    const decode = (value: unknown): unknown => {
      const bytes = fromBase64(value);
      return encoding ? bytes.toString(encoding as BufferEncoding) : bytes;
    };
    return { method: "files.read", args: [path], decode };
  });
  const refuse = (name: string, operation: Operation, value: unknown): HostWork | undefined => {
    const path = findPath(value, operation);
    return path === undefined ? undefined : { method: "files.refused", args: [name, operation, path] };
  };
  overrideAll("open", (args) => refuse("open", isReading(args[1]) ? "read" : "write", args[0]));
  for (const name of refused.read) overrideAll(name, (args) => refuse(name, "read", args[0]));
  for (const name of refused.write) {
    // These write at their second path.
    const position = name === "symlink" || name === "link" || name === "cp" ? 1 : 0;
    overrideAll(name, (args) => refuse(name, "write", args[position]));
  }
  const createWriteStream = fs.createWriteStream;
  fs.createWriteStream = ((value: never, options: never) =>
    findPath(value, "write") === undefined
      ? createWriteStream(value, options)
      : collectWrites(value, options)) as never;
  syncBuiltinESMExports();

  /** Replaces the three forms of a function: with a callback, synchronous, and with a promise. */
  function overrideAll(name: string, plan: (args: unknown[]) => HostWork | undefined): void {
    const asIs = (value: unknown) => value;
    const begin = async ({ method, args, decode = asIs }: HostWork) => {
      try {
        return decode(await link.call(method, args));
      } catch (error) {
        throw toSystemError(error, args);
      }
    };
    override(fs.promises, name, (original) => async (...args) => {
      const work = plan(args);
      return await (work ? begin(work) : original(...(args as never[])));
    });
    override(fs, `${name}Sync`, (original) => (...args) => {
      const work = plan(args);
      if (!work) return original(...(args as never[]));
      const { decode = asIs } = work;
      try {
        return decode(link.callSync(work.method, work.args));
      } catch (error) {
        throw toSystemError(error, work.args);
      }
    });
    override(fs, name, (original) => (...args) => {
      const callback = args.at(-1);
      if (typeof callback !== "function") return original(...(args as never[]));
      const report = callback as (error: unknown, value?: unknown) => void;
      let work: HostWork | undefined;
      try {
        work = plan(args);
      } catch (error) {
        return queueMicrotask(() => report(error));
      }
      if (!work) return original(...(args as never[]));
      begin(work).then((value) => report(null, value), report);
      return undefined;
    });
  }
}

/** They belong to the process, so the host's are others. */
const kernelDirectories = ["/proc", "/dev"];

function override(target: object, name: string, create: (original: AnyFunction) => (...args: unknown[]) => unknown) {
  const record = target as Record<string, AnyFunction | undefined>;
  const original = record[name];
  if (original) record[name] = create(original.bind(target) as AnyFunction) as AnyFunction;
}

const { O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND } = fs.constants;
const writingFlags = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;

const isReading = (flags: unknown): boolean =>
  typeof flags === "number"
    ? (flags & writingFlags) === 0
    : flags === undefined || flags === null || typeof flags === "function" || flags === "r" || flags === "rs";

const toChange = (name: string, ...args: unknown[]): HostWork => ({ method: "files.change", args: [name, ...args] });

const fromBase64 = (value: unknown): Buffer => Buffer.from(String(value), "base64");

/** The host writes whole files: a new content, or what was there with more at its end. */
function planWrite(name: string, path: string, { bytes, flag }: { bytes: Buffer; flag: unknown }): HostWork {
  const content = bytes.toString("base64");
  // Reading along, and writing at once, make no difference here.
  switch (String(flag).replace(/[+s]/g, "")) {
    case "w":
      return toChange("writeFile", path, content, false);
    case "wx":
    case "xw":
      return toChange("writeFile", path, content, true);
    case "a":
      return toChange("appendFile", path, content);
    default:
      return { method: "files.refused", args: [`${name} with the flag ${String(flag)}`, "write", path] };
  }
}

interface WriteOptions {
  encoding?: BufferEncoding | null;
  flag?: unknown;
}

/** Reads what follows the content: the options, their short form, or a callback. */
const toWriteOptions = (options: unknown): WriteOptions =>
  typeof options === "string" ? { encoding: options as BufferEncoding } : ((options ?? {}) as WriteOptions);

function toBytes(content: unknown, encoding: BufferEncoding | null | undefined): Buffer {
  if (ArrayBuffer.isView(content)) return Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  if (typeof content === "string") return Buffer.from(content, encoding ?? "utf8");
  const error = new TypeError("The content of a file must be a text or bytes here.");
  throw Object.assign(error, { code: "ERR_INVALID_ARG_TYPE" });
}

/** Writes the file when everything is there. */
function collectWrites(path: fs.PathLike, options: unknown): Writable {
  const { flags = "w" } = (typeof options === "string" ? {} : (options ?? {})) as { flags?: string };
  const pieces: Buffer[] = [];
  return new Writable({
    write(piece: Buffer, _encoding, done) {
      pieces.push(Buffer.from(piece));
      done();
    },
    final: (done) => fs.writeFile(path, Buffer.concat(pieces), { flag: flags }, done),
  });
}

/** Programs ask for the code that the system would give. */
function toSystemError(error: unknown, args: readonly unknown[]): unknown {
  if (!(error instanceof HostcallError)) return error;
  const code = error.code === "denied" ? "EACCES" : /\((E[A-Z]+)\)$/.exec(error.message)?.[1];
  return Object.assign(error, {
    reason: error.code,
    ...(code && { code }),
    path: args.find((arg) => typeof arg === "string" && arg.startsWith("/")),
  });
}

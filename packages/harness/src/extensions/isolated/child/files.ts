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
import { HostcallError, type HostLink } from "./link.ts";

export interface FilePlaces {
  /** Can be read as they are. */
  visible: readonly string[];
  /** Can be changed as they are. */
  temporary: string;
}

type AnyFunction = (...args: never[]) => unknown;
type Operation = "read" | "write";

/** What the host is asked to do, and what its answer becomes. */
interface HostWork {
  method: string;
  args: unknown[];
  decode?: (value: unknown) => unknown;
}

/** Functions whose first argument is a path that they change, as the host knows them. */
const changes = ["writeFile", "appendFile", "mkdir", "rm", "rmdir", "unlink", "rename", "copyFile"] as const;
type Change = (typeof changes)[number];

/** What the host does not do for an extension: it would have to hold descriptors for it, or make links. */
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
  const isMounted = (path: string): boolean => places.visible.some((directory) => isWithin(directory, path));
  const isOwn = (path: string): boolean => isWithin(places.temporary, path) && !isMounted(path);
  const isVisible = (path: string): boolean =>
    isOwn(path) || isMounted(path) || systemDirectories.some((directory) => isWithin(directory, path));
  /** Whether the host has to do it; undefined if the system can. */
  const findPath = (value: unknown, operation: Operation): string | undefined => {
    const path = toPath(value);
    if (path === undefined) return undefined;
    return (operation === "read" ? isVisible(path) : isOwn(path)) ? undefined : path;
  };

  for (const name of changes) {
    overrideAll(name, (args) => {
      const path = findPath(args[0], "write");
      if (path === undefined) return undefined;
      return { method: "files.change", args: [name, path, ...toChangeArguments(name, args, toPath)] };
    });
  }
  overrideAll("readFile", (args) => {
    const path = findPath(args[0], "read");
    if (path === undefined) return undefined;
    const options: unknown = args[1];
    const encoding = typeof options === "string" ? options : (options as { encoding?: string } | undefined)?.encoding;
    const decode = (value: unknown): unknown => {
      const bytes = Buffer.from(String(value), "base64");
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
    // A link is made at its second path.
    const position = name === "symlink" || name === "link" ? 1 : 0;
    overrideAll(name, (args) => refuse(name, "write", args[position]));
  }
  const createWriteStream = fs.createWriteStream;
  fs.createWriteStream = ((value: never, options: never) =>
    findPath(value, "write") === undefined ? createWriteStream(value, options) : collectWrites(value)) as never;
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
    override(fs.promises, name, (original) => (...args) => {
      const work = plan(args);
      return work ? begin(work) : original(...(args as never[]));
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
      const work = plan(args);
      const callback = args.at(-1);
      if (!work || typeof callback !== "function") return original(...(args as never[]));
      const report = callback as (error: unknown, value?: unknown) => void;
      begin(work).then((value) => report(null, value), report);
      return undefined;
    });
  }
}

/** What every process sees of the system; the mounts say exactly what that is. */
const systemDirectories = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/ssl", "/proc", "/dev", "/nix/store"];

function override(target: object, name: string, create: (original: AnyFunction) => (...args: unknown[]) => unknown) {
  const record = target as Record<string, AnyFunction | undefined>;
  const original = record[name];
  if (original) record[name] = create(original.bind(target) as AnyFunction) as AnyFunction;
}

const isReading = (flags: unknown): boolean =>
  flags === undefined || typeof flags === "function" || flags === "r" || flags === "rs" || flags === 0;

/** Of what follows the path only data counts: content, the second path, and whether to work recursively. */
function toChangeArguments(name: Change, args: unknown[], toPath: (value: unknown) => string | undefined): unknown[] {
  const options = args[1] as { recursive?: boolean; force?: boolean } | undefined;
  switch (name) {
    case "writeFile":
    case "appendFile":
      return [toBytes(args[1], args[2]).toString("base64")];
    case "rename":
    case "copyFile":
      return [toPath(args[1])];
    default:
      return [{ recursive: options?.recursive === true, force: options?.force === true }];
  }
}

function toBytes(content: unknown, options: unknown): Buffer {
  if (ArrayBuffer.isView(content)) return Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const encoding = typeof options === "string" ? options : (options as { encoding?: string } | undefined)?.encoding;
  return Buffer.from(String(content), (encoding ?? "utf8") as BufferEncoding);
}

/** Writes the file when everything is there. */
function collectWrites(path: fs.PathLike): Writable {
  const pieces: Buffer[] = [];
  return new Writable({
    write(piece: Buffer, _encoding, done) {
      pieces.push(Buffer.from(piece));
      done();
    },
    final: (done) => fs.writeFile(path, Buffer.concat(pieces), done),
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

/** Errors of the file system as sentences for the model. Pure. */
import type { Stats } from "node:fs";
import { systemCode, ToolsError, type ToolsErrorCode } from "../errors.ts";

type Words = readonly [ToolsErrorCode, (path: string) => string];

const again = "Try again; if it keeps failing, tell the user.";

const words: Readonly<Record<string, Words>> = {
  ENOENT: ["not_found", (path) => `There is no file ${path}.`],
  ENOTDIR: ["not_found", (path) => `A part of ${path} is a file, not a directory.`],
  EEXIST: ["busy", (path) => `${path} appeared while it was being made. Try again.`],
  EISDIR: ["not_a_file", (path) => `${path} is a directory, not a file.`],
  EACCES: ["denied", (path) => `The system does not allow access to ${path}.`],
  EPERM: ["denied", (path) => `The system does not allow access to ${path}.`],
  EROFS: ["denied", (path) => `${path} is on a file system that can only be read. Write somewhere else.`],
  ELOOP: ["not_found", (path) => `${path} is a link that leads in a circle.`],
  ENXIO: ["not_a_file", (path) => `${path} is a socket or a device, not a file.`],
  ENODEV: ["not_a_file", (path) => `${path} is a device that is not there.`],
  ENAMETOOLONG: ["invalid_input", (path) => `${shortened(path)} is too long for a path. Use shorter names.`],
  ERR_INVALID_ARG_VALUE: ["invalid_input", (path) => `${JSON.stringify(path)} cannot be a path.`],
  EFBIG: ["too_large", (path) => `${path} would become larger than the file system allows. Write less, or in parts.`],
  ENOSPC: ["unavailable", (path) => `There is no space left on the disk of ${path}. Free some, or write elsewhere.`],
  EDQUOT: ["unavailable", (path) => `The disk quota for ${path} is used up. Free some space, or write elsewhere.`],
  EMFILE: ["unavailable", (path) => `Too many files are open to open ${path}. Try again with fewer calls at a time.`],
  ENFILE: ["unavailable", (path) => `Too many files are open to open ${path}. Try again with fewer calls at a time.`],
  ENOMEM: ["unavailable", (path) => `There is too little memory to work on ${path}. ${again}`],
  EIO: ["failed", (path) => `The disk failed while working on ${path}. ${again}`],
  ESTALE: ["failed", (path) => `The network file system no longer knows ${path}. ${again}`],
  EAGAIN: ["busy", (path) => `${path} has no data at the moment, or is locked by another process. ${again}`],
  EBUSY: ["busy", (path) => `${path} is in use by the system. ${again}`],
  ETXTBSY: ["busy", (path) => `${path} is a program that is running. End it first.`],
};

/** A system error as a `ToolsError` for the model. Any other error is returned as it is. */
export function explained(error: unknown, path: string): unknown {
  const code = systemCode(error);
  if (error instanceof ToolsError || code === undefined) return error;
  const [kind, say] = words[code] ?? ["failed", () => `The system could not work on ${path}: ${code}. ${again}`];
  return new ToolsError(kind, say(path), { cause: error });
}

/** Runs `work`; a system error that it throws becomes one that names `path`. */
export async function explaining<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw explained(error, path);
  }
}

const shortened = (path: string) => (path.length > 200 ? `${path.slice(0, 200)}…` : path);

export function getKind(stats: Stats): string {
  if (stats.isDirectory()) return "a directory";
  if (stats.isFIFO()) return "a pipe";
  if (stats.isSocket()) return "a socket";
  if (stats.isCharacterDevice() || stats.isBlockDevice()) return "a device";
  return stats.isFile() ? "a file" : "something else";
}

/** Writing an export: to a file, which is written whole or not at all, or to a pipe or device. */
import { constants, openSync } from "node:fs";
import { lstat, open, realpath, stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { systemClock } from "@tau/ai";
import { closeAfter, getErrorMessage, sleep } from "@tau/ai/internal";
import { unlessMissing } from "@tau/tools/platform";
import { namingFile, writeTextFile } from "@tau/tools/durable";
import { HarnessError } from "@tau/protocol";

type Target =
  | { kind: "new"; path: string }
  /** `path` is where the file really is: a link stays a link. */
  | { kind: "file"; path: string }
  | { kind: "pipe" | "device"; path: string };

/** Throws for a path that cannot be written to, and for `log`, the file of the session that is exported. */
export async function findTarget(path: string, log: string | undefined): Promise<Target> {
  if (path.includes("\0")) throw refused(`${JSON.stringify(path)} cannot be the name of a file`);
  const stats = await namingFile(path, () => unlessMissing(stat(path)));
  if (!stats) {
    if (await unlessMissing(lstat(path))) throw refused(`${path} is a link to a file that does not exist`);
    return { kind: "new", path };
  }
  if (stats.isFile()) {
    const file = await realpath(path);
    const isLog = log !== undefined && file === (await unlessMissing(realpath(log)));
    if (isLog) throw refused(`${path} is the log of the session, which an export must not replace`);
    return { kind: "file", path: file };
  }
  if (stats.isFIFO()) return { kind: "pipe", path };
  if (stats.isCharacterDevice()) return { kind: "device", path };
  throw refused(`${path} is ${stats.isDirectory() ? "a directory" : "neither a file nor a pipe"}`);
}

/** Only its owner may read the file: conversations are private. */
export async function writeTarget({ kind, path }: Target, text: string, signal: AbortSignal): Promise<void> {
  if (kind === "pipe") return await writePipe(path, text, signal);
  try {
    if (kind !== "device") return await writeTextFile(path, text, { replaces: kind === "file" });
    await closeAfter(await open(path, constants.O_WRONLY), (handle) => handle.writeFile(text));
  } catch (error) {
    // The system names no file, or the one that would have taken this name.
    const [, code, reason] = /^([A-Z]+): ([^,]+),/.exec(getErrorMessage(error)) ?? [];
    if (code === undefined) throw error;
    throw new HarnessError("write_failed", `${path} could not be written: ${reason} (${code}).`, { cause: error });
  }
}

interface FileTargetOptions {
  /** The file of the session that is exported; undefined in memory. */
  log: string | undefined;
  /** An existing file is replaced only if its name ends in this. */
  extension: string;
  /** A link is followed only if the user named it; otherwise it could lead to any file. */
  followsLinks: boolean;
}

/** Writes a file. Pipes and devices are refused: nothing may wait for a reader here. */
export async function writeFileTarget(path: string, text: string, options: FileTargetOptions): Promise<void> {
  const { log, extension, followsLinks } = options;
  if (!followsLinks && (await unlessMissing(lstat(path)))?.isSymbolicLink()) throw refused(`${path} is a link`);
  const target = await findTarget(path, log);
  if (target.kind === "pipe" || target.kind === "device") throw refused(`${path} is not a file`);
  if (target.kind === "file" && !target.path.toLowerCase().endsWith(extension))
    throw refused(`${target.path} exists already, and its name does not end in ${extension}`);
  await writeTextFile(target.path, text, { replaces: true });
}

/** A blocking open of a pipe without a reader could not be stopped, not even by the end of the program. */
async function writePipe(path: string, text: string, signal: AbortSignal): Promise<void> {
  const { Socket } = await import("node:net");
  const fd = await openPipe(path, signal);
  try {
    await pipeline([text], new Socket({ fd, readable: false, writable: true }), { signal });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPIPE") throw error;
    throw new HarnessError("write_failed", `${path} was not read to its end.`, { cause: error });
  }
}

async function openPipe(path: string, signal: AbortSignal): Promise<number> {
  for (;;) {
    try {
      return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENXIO") throw error;
    }
    if ((await sleep(systemClock, readerCheckMs, signal)) === "aborted") signal.throwIfAborted();
  }
}

/** How often it is checked whether a pipe has a reader. */
const readerCheckMs = 50;

const refused = (what: string) => new HarnessError("invalid_input", `${what}. Choose another name.`);

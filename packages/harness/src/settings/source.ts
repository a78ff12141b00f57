/** Where settings come from: a text that can be read, and rewritten as a whole. */
import { dirname, join, relative, isAbsolute, sep } from "node:path";
import { type Clock, type Ids, getErrorMessage } from "@tau/ai";
import type { FileSystem } from "@tau/tools/platform";
import { HarnessError } from "../errors.ts";
import { ifThere, writeWhole } from "../durable-file.ts";
import { decodeText, readBytes, readTextFile, type FileText } from "../text-file.ts";
import { waitForLease } from "../wait-for-lease.ts";
import type { SettingsPlace } from "./shape.ts";

export interface SettingsSource {
  /** For people. */
  readonly file: string;
  readonly place: SettingsPlace;
  /** Never rejects: what goes wrong is part of the answer. */
  read(): Promise<FileText>;
  /**
   * Replaces the text by what `edit` makes of the latest one; of an empty one if there is none. `edit` may be called
   * again when somebody else was faster; what it throws is thrown, and nothing is changed.
   */
  rewrite(edit: (text: string) => Promise<string>): Promise<void>;
}

/** A text in memory. Without `text`, there is none. */
export function memorySource(place: SettingsPlace, text?: string): SettingsSource {
  let current = text;
  return {
    file: "memory",
    place,
    read: () => Promise.resolve(current === undefined ? { kind: "absent" } : { kind: "text", text: current }),
    async rewrite(edit) {
      current = await edit(current ?? "");
    },
  };
}

export interface FileSourceOptions {
  readonly path: string;
  readonly place: SettingsPlace;
  /** If given, a link that leads out of this directory is not written through. */
  readonly within?: string;
  /** Of a file that is new. */
  readonly mode: number;
  readonly fileSystem: FileSystem;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** How long another process may take to write its changes. */
const maxWaitMs = 10_000;

export function fileSource(options: FileSourceOptions): SettingsSource {
  const { path, place, fileSystem: fs } = options;
  return {
    file: path,
    place,
    read: () => readTextFile(fs, path),
    async rewrite(edit) {
      try {
        const target = await getTarget(options);
        await holding(options, target, () => replace(options, target, edit));
      } catch (error) {
        if (error instanceof HarnessError) throw error;
        const message = `The settings in ${path} could not be written: ${getErrorMessage(error)}`;
        throw new HarnessError("write_failed", message, { cause: error });
      }
    },
  };
}

/** What a link points to is changed, not the link. */
async function getTarget({ path, within, fileSystem: fs }: FileSourceOptions): Promise<string> {
  const target = await realPath(fs, path);
  if (within === undefined) return target;
  const way = relative(await fs.realpath(within), target);
  if (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way)) return target;
  const message = `${path} leads to ${target}, outside of the project, so it is not written. Change that file yourself.`;
  throw new HarnessError("invalid_input", message);
}

/** Also of a path whose end is still missing. */
async function realPath(fs: FileSystem, path: string): Promise<string> {
  const real = await ifThere(fs.realpath(path));
  if (real !== undefined || dirname(path) === path) return real ?? path;
  return join(await realPath(fs, dirname(path)), path.slice(dirname(path).length));
}

async function holding<T>(options: FileSourceOptions, target: string, act: () => Promise<T>): Promise<T> {
  const { fileSystem: fs } = options;
  const lock = `${target}.lease`;
  await takeLease(options, lock);
  try {
    return await act();
  } finally {
    // Only its holder may remove it. Nothing is left behind then, in what may be a repository; its generations count
    // for nothing here. A second try, since a lock that stays shuts out everybody for as long as this process lives.
    await fs.unlink(lock).catch(() => fs.unlink(lock));
  }
}

async function takeLease({ clock, ids, fileSystem }: FileSourceOptions, lock: string): Promise<void> {
  await fileSystem.mkdir(dirname(lock), { recursive: true, mode: 0o700 });
  const outcome = await waitForLease(lock, { clock, ids, fileSystem, maxWaitMs });
  if (outcome.kind === "held") return;
  const message = `Process ${outcome.holder.pid} has held ${lock} for ${maxWaitMs / 1000} s. Try again.`;
  throw new HarnessError("write_failed", message);
}

/** Somebody who knows nothing of our lock, such as an editor, has saved in between. */
class Overtaken extends Error {}

async function replace(
  { fileSystem: fs, ids, mode, path }: FileSourceOptions,
  target: string,
  edit: (text: string) => Promise<string>,
): Promise<void> {
  for (let tries = 20; ; tries--) {
    const before = await readBytes(fs, target);
    const bytes = new TextEncoder().encode(await edit(before ? decodeText(before) : ""));
    if (before?.equals(bytes)) return;
    const stats = await ifThere(fs.stat(target));
    const careful: FileSystem = {
      ...fs,
      // The last look is as late as can be.
      async rename(from, to) {
        const now = await readBytes(fs, target);
        if (now ? !before?.equals(now) : before) throw new Overtaken(`${path} keeps changing.`);
        await fs.rename(from, to);
      },
    };
    try {
      return await writeWhole(careful, { path: target, bytes, ids, mode: stats ? stats.mode & 0o777 : mode });
    } catch (error) {
      if (!(error instanceof Overtaken) || tries === 0) throw error;
    }
  }
}

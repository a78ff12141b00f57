/** Sources of settings: texts that can be read, and rewritten as a whole. */
import { dirname, join, relative, isAbsolute, sep } from "node:path";
import { type Clock, type Ids } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import { type FileSystem, systemCode, unlessMissing } from "@tau/tools/platform";
import { HarnessError } from "@tau/protocol";
import { formatWriteFailure, writeWhole, holdLease } from "@tau/tools/durable";
import { decodeText, readBytes, readTextFile, type FileText } from "../files/text-file.ts";
import type { SettingsLocation } from "./shape.ts";

export interface SettingsSource {
  /** Its path, or `memory`. */
  readonly file: string;
  readonly location: SettingsLocation;
  /** Never rejects: what goes wrong is part of the result. */
  read(): Promise<FileText>;
  /**
   * Replaces the text by the result of `edit`, which is called with the latest text, or an empty one if there is none.
   * It may be called again if another program saved meanwhile. If it throws, nothing is changed.
   */
  rewrite(edit: (text: string) => Promise<string>): Promise<void>;
}

/** A text in memory. Without `text` it is absent. */
export function createMemorySource(location: SettingsLocation, text?: string): SettingsSource {
  let current = text;
  return {
    file: "memory",
    location,
    read: () => Promise.resolve(current === undefined ? { kind: "absent" } : { kind: "text", text: current }),
    async rewrite(edit) {
      current = await edit(current ?? "");
    },
  };
}

export interface FileSourceOptions {
  readonly path: string;
  readonly location: SettingsLocation;
  /** If given, a link that leads out of this directory is not followed to write. */
  readonly within?: string;
  /** The permissions of a new file. */
  readonly mode: number;
  readonly fileSystem: FileSystem;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** How long another process may take to write its changes. */
const maxWaitMs = 10_000;

export function createFileSource(options: FileSourceOptions): SettingsSource {
  const { path, location, fileSystem: fs } = options;
  return {
    file: path,
    location,
    read: () => readTextFile(fs, path),
    async rewrite(edit) {
      try {
        const target = await getTarget(options);
        await withLease(options, target, () => replace(options, target, edit));
      } catch (error) {
        if (error instanceof HarnessError) throw error;
        const code = systemCode(error);
        const reason = code === undefined ? getErrorMessage(error) : `${formatWriteFailure(code)}. It was not changed.`;
        const message = `The settings in ${path} could not be written: ${reason}`;
        throw new HarnessError("write_failed", message, { cause: error });
      }
    },
  };
}

/** The target of a link is changed, not the link. */
async function getTarget({ path: link, within, fileSystem: fs }: FileSourceOptions): Promise<string> {
  const target = await getRealPath(fs, link);
  if (within === undefined) return target;
  const path = relative(await fs.realpath(within), target);
  if (path !== ".." && !path.startsWith(`..${sep}`) && !isAbsolute(path)) return target;
  const message = `${link} leads to ${target}, outside of the project, so it is not written. Change that file yourself.`;
  throw new HarnessError("invalid_input", message);
}

/** Also of a file that does not exist yet. */
async function getRealPath(fs: FileSystem, path: string): Promise<string> {
  const real = await unlessMissing(fs.realpath(path));
  if (real !== undefined || dirname(path) === path) return real ?? path;
  return join(await getRealPath(fs, dirname(path)), path.slice(dirname(path).length));
}

async function withLease<T>(options: FileSourceOptions, target: string, work: () => Promise<T>): Promise<T> {
  const { clock, ids, fileSystem } = options;
  await fileSystem.mkdir(dirname(target), { recursive: true, mode: 0o700 });
  return await holdLease(target, { clock, ids, fileSystem, maxWaitMs }, work);
}

/** A program that does not take the lease, such as an editor, has saved meanwhile. */
class ChangedMeanwhile extends Error {}

async function replace(
  { fileSystem: fs, ids, mode, path }: FileSourceOptions,
  target: string,
  edit: (text: string) => Promise<string>,
): Promise<void> {
  for (let tries = 20; ; tries--) {
    const before = await readBytes(fs, target);
    const bytes = new TextEncoder().encode(await edit(before ? decodeText(before) : ""));
    if (before?.equals(bytes)) return;
    const stats = await unlessMissing(fs.stat(target));
    const checkingFileSystem: FileSystem = {
      ...fs,
      // Compared as late as possible.
      async rename(from, to) {
        const now = await readBytes(fs, target);
        if (now ? !before?.equals(now) : before) throw new ChangedMeanwhile(`${path} keeps changing.`);
        await fs.rename(from, to);
      },
    };
    try {
      return await writeWhole(checkingFileSystem, {
        path: target,
        bytes,
        ids,
        mode: stats ? stats.mode & 0o777 : mode,
      });
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile) || tries === 0) throw error;
    }
  }
}

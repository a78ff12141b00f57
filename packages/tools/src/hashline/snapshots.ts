/** Remembers what the model was shown of files, so that an anchor can be compared with the text that it was shown for. */
import type { Hunk } from "./apply.ts";
import { getFileTag } from "./tags.ts";
import { parseTextFile, toLines, type TextFile } from "./text.ts";
import { xxHash32 } from "./xxhash32.ts";

/** A state of a file. Line numbers in it are 0-based. */
export interface Version {
  readonly id: number;
  /** Four hex digits. */
  readonly tag: string;
  /** All 32 bits, and the length in bytes: they verify a text that is put together again. */
  readonly hash: number;
  readonly length: number;
  /** Undefined when the text is too long to be kept: then only the lines that were shown are. */
  readonly text: Buffer | undefined;
  /** The lines that were shown, each at the number it was shown with; holes are lines that were not. */
  readonly shown: readonly (string | undefined)[];
  /** The session's own edit that made it of another version. */
  readonly madeFrom: { readonly id: number; readonly hunks: readonly Hunk[] } | undefined;
}

/** Lines of a text that a tool shows. */
interface Showing {
  /** The real path. */
  path: string;
  file: TextFile;
  /** Counted from 0. */
  numbers: readonly number[];
  /** The model was asked to use these tags: what was shown under the same numbers before no longer applies. */
  isCorrection?: boolean;
}

export interface Snapshots {
  /** Remembers that lines were shown with their tags, and returns the version they belong to. */
  show(showing: Showing): Version;
  /** Remembers a text that the session itself made of another by sorted hunks. Lines that did not move stay shown. */
  edited(path: string, before: TextFile, after: TextFile, hunks: readonly Hunk[]): Version;
  /** Parses like `parseTextFile`, but without work for the bytes that were decoded last, or that an edit wrote last. */
  decode(bytes: Uint8Array, name: string): TextFile;
  /** The bytes that `decode` does not need to decode again. */
  readonly decoded: Buffer | undefined;
  /** The newest first. */
  versions(path: string): readonly Version[];
}

export interface SnapshotLimits {
  /** Default 4. */
  maxVersions?: number;
  /** Default 30. */
  maxPaths?: number;
  /** Bytes of all texts together. Default 32 Mi. */
  maxLength?: number;
  /** Bytes of one text. Default 4 Mi. */
  maxTextLength?: number;
}

interface Kept extends Version {
  shown: (string | undefined)[];
  madeFrom: Version["madeFrom"];
  /** Bytes of text that it keeps in memory. */
  size: number;
}

export function createSnapshots(limits: SnapshotLimits = {}): Snapshots {
  const { maxVersions = 4, maxPaths = 30, maxLength = 32 * 1024 ** 2, maxTextLength = 4 * 1024 ** 2 } = limits;
  /** The least recently used path first. */
  const paths = new Map<string, Kept[]>();
  let nextId = 1;
  /** Mostly the next one that is needed. */
  let last: TextFile | undefined;

  const isKept = (text: Buffer) => text.length <= maxTextLength;

  function getVersion(path: string, file: TextFile): Kept {
    const versions = paths.get(path) ?? [];
    const known = versions.find((version) => isVersionOf(version, file));
    const version = known ?? create(file);
    // Last again, as the path that was used most recently.
    paths.delete(path);
    paths.set(path, [version, ...versions.filter((other) => other !== version)].slice(0, maxVersions));
    return version;
  }

  function create({ text, hash }: TextFile): Kept {
    return {
      id: nextId++,
      tag: getFileTag(hash),
      hash,
      length: text.length,
      text: isKept(text) ? text : undefined,
      shown: [],
      madeFrom: undefined,
      size: isKept(text) ? text.length : 0,
    };
  }

  /** The version in use stays, even if it is too large alone. */
  function shrink(inUse: Kept): void {
    const total = () => [...paths.values()].flat().reduce((sum, version) => sum + version.size, 0);
    for (const [path, versions] of paths) {
      if (paths.size <= maxPaths && total() <= maxLength) return;
      if (!versions.includes(inUse)) paths.delete(path);
      else while (versions.length > 1 && total() > maxLength) versions.pop();
    }
  }

  return {
    show({ path, file, numbers, isCorrection = false }) {
      const version = getVersion(path, file);
      const others = isCorrection ? paths.get(path)!.filter((other) => other !== version) : [];
      for (const number of numbers) {
        const line = file.line(number);
        if (version.text === undefined && version.shown[number] === undefined) version.size += line.length;
        version.shown[number] = line;
        for (const other of others) if (number in other.shown) other.shown[number] = undefined;
      }
      shrink(version);
      return version;
    },
    edited(path, before, after, hunks) {
      const from = paths.get(path)?.find((version) => isVersionOf(version, before));
      const version = getVersion(path, after);
      last = isKept(after.bytes) ? after : undefined;
      if (from && from !== version) {
        version.madeFrom = { id: from.id, hunks };
        if (version.shown.length === 0) version.shown = unmoved(from.shown, hunks);
        if (version.text === undefined)
          version.size = version.shown.reduce((sum, line) => sum + (line?.length ?? 0), 0);
      }
      shrink(version);
      return version;
    },
    decode(bytes, name) {
      if (last?.bytes.equals(bytes)) return last;
      const file = parseTextFile(bytes, name);
      last = isKept(file.bytes) ? file : undefined;
      return file;
    },
    get decoded() {
      return last?.bytes;
    },
    versions: (path) => paths.get(path) ?? [],
  };
}

/** Whether a version is of this text. Compares the text itself where that was kept. */
export function isVersionOf(version: Version, file: TextFile): boolean {
  if (version.length !== file.text.length) return false;
  return version.text === undefined ? version.hash === file.hash : version.text.equals(file.text);
}

/** Lines that still have the number they were shown with. */
function unmoved(shown: readonly (string | undefined)[], hunks: readonly Hunk[]): (string | undefined)[] {
  const kept = shown.slice();
  let shift = 0;
  for (const [index, { start, end, lines }] of hunks.entries()) {
    shift += lines.length - (end - start);
    const next = shift === 0 ? end : (hunks[index + 1]?.start ?? kept.length);
    kept.fill(undefined, start, Math.max(end, next));
  }
  return kept;
}

/**
 * The lines of a version. Where only some were kept, the others are taken from the current text; undefined when the
 * result is not the text that was read.
 */
export function linesOfVersion(version: Version, current: TextFile): string[] | undefined {
  if (version.text !== undefined) return toLines(version.text);
  const lines = current.lines;
  version.shown.forEach((line, index) => {
    if (line !== undefined) lines[index] = line;
  });
  const text = Buffer.from(lines.join("\n") + (current.isOpen ? "" : "\n"));
  return version.length === text.length && version.hash === xxHash32(text) ? lines : undefined;
}

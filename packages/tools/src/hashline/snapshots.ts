/** What the model has been shown of files, so that an anchor can be held against the text that was meant by it. */
import type { Hunk } from "./apply.ts";
import { fileTagOf, hashText } from "./tags.ts";
import { linesOf } from "./text.ts";

/** One state of a file. Line numbers in it are 0-based. */
export interface Version {
  readonly id: number;
  /** Four hex digits. */
  readonly tag: string;
  /** All 32 bits, and the length in characters: what a text that is put together again is verified by. */
  readonly hash: number;
  readonly length: number;
  /** Undefined when the text is too long to be kept: then only the lines that were shown are. */
  readonly text: string | undefined;
  /** The lines that were shown, each at the number it was shown with; holes are lines that never were. */
  readonly shown: readonly (string | undefined)[];
  /** The session's own edit that made it of another version. */
  readonly madeFrom: { readonly id: number; readonly hunks: readonly Hunk[] } | undefined;
}

/** Lines of a text that a tool shows: `firstLine` is 1-based, as the model counts. */
export interface Showing {
  /** The real path. */
  path: string;
  /** With `\n` line ends and without a byte order mark, as `TextFile.text`. */
  text: string;
  firstLine: number;
  lines: readonly string[];
  /** The model was told to use these tags: what was shown under the same numbers before does not count any more. */
  isCorrection?: boolean;
}

export interface Snapshots {
  /** Remembers that lines were shown with their tags, and returns the version they belong to. */
  show(showing: Showing): Version;
  /**
   * Remembers a text that the session itself made of another by sorted hunks. Lines that did not move stay shown.
   * `hash` is of the new text, if it is known already.
   */
  edited(path: string, before: string, after: string, hunks: readonly Hunk[], hash?: number): Version;
  /** The newest first. */
  versions(path: string): readonly Version[];
}

export interface SnapshotLimits {
  /** Default 4. */
  maxVersions?: number;
  /** Default 30. */
  maxPaths?: number;
  /** Characters of all texts together. Default 32 Mi. */
  maxLength?: number;
  /** Characters of one text. Default 4 Mi. */
  maxTextLength?: number;
}

interface Kept extends Version {
  shown: (string | undefined)[];
  madeFrom: Version["madeFrom"];
  /** Characters it holds on to. */
  size: number;
}

export function createSnapshots(limits: SnapshotLimits = {}): Snapshots {
  const { maxVersions = 4, maxPaths = 30, maxLength = 32 * 1024 ** 2, maxTextLength = 4 * 1024 ** 2 } = limits;
  /** The least recently used path first. */
  const paths = new Map<string, Kept[]>();
  let nextId = 1;

  function versionOf(path: string, text: string, hash?: number): Kept {
    const versions = paths.get(path) ?? [];
    const known = versions.find((version) => isOf(version, text));
    const version = known ?? create(text, hash ?? hashText(text));
    touch(path, [version, ...versions.filter((other) => other !== version)].slice(0, maxVersions));
    return version;
  }

  function create(text: string, hash: number): Kept {
    const isKept = text.length <= maxTextLength;
    return {
      id: nextId++,
      tag: fileTagOf(hash),
      hash,
      length: text.length,
      text: isKept ? text : undefined,
      shown: [],
      madeFrom: undefined,
      size: isKept ? text.length : 0,
    };
  }

  function touch(path: string, versions: Kept[]): void {
    paths.delete(path);
    paths.set(path, versions);
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
    show({ path, text, firstLine, lines, isCorrection = false }) {
      const version = versionOf(path, text);
      const others = isCorrection ? paths.get(path)!.filter((other) => other !== version) : [];
      lines.forEach((line, at) => {
        const number = firstLine - 1 + at;
        if (version.text === undefined && version.shown[number] === undefined) version.size += line.length;
        version.shown[number] = detached(line);
        for (const other of others) if (number in other.shown) other.shown[number] = undefined;
      });
      shrink(version);
      return version;
    },
    edited(path, before, after, hunks, hash) {
      const from = paths.get(path)?.find((version) => isOf(version, before));
      const version = versionOf(path, after, hash);
      if (from && from !== version) {
        version.madeFrom = { id: from.id, hunks };
        if (version.shown.length === 0) version.shown = unmoved(from.shown, hunks);
        if (version.text === undefined)
          version.size = version.shown.reduce((sum, line) => sum + (line?.length ?? 0), 0);
      }
      shrink(version);
      return version;
    },
    versions: (path) => paths.get(path) ?? [],
  };
}

/** A line cut from a text keeps the whole text in memory; a copy does not. */
const detached = (line: string): string => Buffer.from(line, "utf8").toString("utf8");

/** Whether a version is of this text: by the text itself where that was kept. */
export function isOf(version: Version, text: string): boolean {
  if (version.length !== text.length) return false;
  return version.text === undefined ? version.hash === hashText(text) : version.text === text;
}

/** Lines that still have the number they were shown with. */
function unmoved(shown: readonly (string | undefined)[], hunks: readonly Hunk[]): (string | undefined)[] {
  const kept = shown.slice();
  let shift = 0;
  for (const [at, { start, end, lines }] of hunks.entries()) {
    shift += lines.length - (end - start);
    const next = shift === 0 ? end : (hunks[at + 1]?.start ?? kept.length);
    kept.fill(undefined, start, Math.max(end, next));
  }
  return kept;
}

/**
 * The text of a version. Where only lines were kept, it is put together of them and what the file holds now between
 * them; undefined when that is not the text that was read.
 */
export function textOfVersion(version: Version, current: string): string | undefined {
  if (version.text !== undefined) return version.text;
  const lines = linesOf(current);
  version.shown.forEach((line, at) => {
    if (line !== undefined) lines[at] = line;
  });
  const text = lines.join("\n") + (current.endsWith("\n") ? "\n" : "");
  return isOf(version, text) ? text : undefined;
}

/** Collects the matches of a search, no more than can be shown. */
import { defaultMaxBytes, defaultMaxLines } from "../truncate.ts";
import { createSafeText } from "../shell/safe-text.ts";
import type { SearchRecord } from "./records.ts";

/** Characters of a line that are shown. */
export const maxColumns = 500;
const maxBinaryNames = 5;

interface ShownLine {
  text: string;
  isMatch: boolean;
}

export interface Matches {
  /** `enough` says that nothing that follows would be shown. */
  add(record: SearchRecord): "more" | "enough";
  /** Whether it could change anything that is shown. */
  wants(record: SearchRecord): boolean;
  /** Ordered by path, since ripgrep's threads finish in any order. */
  result(show: (path: string) => string): {
    lines: ShownLine[];
    binary: { names: string[]; hasMore: boolean };
    hasCutLines: boolean;
    stoppedBy: "limit" | "size" | undefined;
  };
}

interface Line {
  line: number;
  isMatch: boolean;
  text: string;
}

/** The lines of one file. */
interface Section {
  path: string;
  lines: Line[];
}

export function createMatches({ limit, context }: { limit: number; context: number }): Matches {
  const sections: Section[] = [];
  const binary: string[] = [];
  let [matches, lines, bytes] = [0, 0, 0];
  let hasCutLines = false;
  let stoppedBy: "limit" | "size" | undefined;
  return {
    add(record) {
      if (record.kind === "binary") {
        binary.push(record.path);
        return "more";
      }
      const isMatch = record.kind === "match";
      if (isMatch && ++matches > limit) {
        stoppedBy = "limit";
        dropContext(sections, record.path, context);
        return "enough";
      }
      const whole = toSafeText(record.text);
      const text = cut(whole);
      hasCutLines ||= text !== whole;
      if (sections.at(-1)?.path !== record.path) sections.push({ path: record.path, lines: [] });
      sections.at(-1)!.lines.push({ line: record.line, isMatch, text });
      bytes += Buffer.byteLength(text) + record.path.length;
      if (++lines <= defaultMaxLines && bytes <= defaultMaxBytes) return "more";
      stoppedBy = "size";
      return "enough";
    },
    // One more than is shown tells whether there are more.
    wants: (record) => record.kind !== "binary" || binary.length <= maxBinaryNames,
    result(show) {
      const ordered = sections.toSorted((a, b) => (a.path < b.path ? -1 : 1));
      return {
        lines: shownLines(ordered, show, context > 0),
        binary: {
          names: binary.slice(0, maxBinaryNames).map(show).sort(),
          hasMore: binary.length > maxBinaryNames,
        },
        hasCutLines,
        stoppedBy,
      };
    },
  };
}

/** Removes the context before a match that is not shown. */
function dropContext(sections: Section[], path: string, context: number): void {
  const section = sections.at(-1);
  if (section?.path !== path) return;
  const last = section.lines.findLast(({ isMatch }) => isMatch);
  section.lines = last ? section.lines.filter(({ line }) => line <= last.line + context) : [];
  if (!last) sections.pop();
}

/** With context, `--` stands where lines do not follow each other. */
function shownLines(sections: readonly Section[], show: (path: string) => string, isSeparated: boolean): ShownLine[] {
  const shown: ShownLine[] = [];
  for (const { path, lines } of sections) {
    const name = show(path);
    let previous: number | undefined;
    for (const { line, isMatch, text } of lines) {
      const follows = previous !== undefined && line === previous + 1;
      if (isSeparated && shown.length > 0 && !follows) shown.push({ text: "--", isMatch: false });
      shown.push({ isMatch, text: isMatch ? `${name}:${line}: ${text}` : `${name}-${line}- ${text}` });
      previous = line;
    }
  }
  return shown;
}

/** Control sequences are replaced as in the output of commands. A line stays one line. */
const toSafeText = (line: string): string =>
  createSafeText()
    .push(Buffer.from(line.replaceAll("\r", "\u240d")))
    .toString();

function cut(text: string): string {
  if (text.length <= maxColumns) return text;
  // Never between the halves of a surrogate pair.
  const end = /[\ud800-\udbff]/.test(text[maxColumns - 1]!) ? maxColumns - 1 : maxColumns;
  return `${text.slice(0, end)}… [cut]`;
}

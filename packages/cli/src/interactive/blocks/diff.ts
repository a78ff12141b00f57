/** A diff in colours. Where one line takes the place of another, the words that differ are marked. */
import type { Theme } from "@tau/tui";

type Kind = "added" | "removed" | "file" | "hunk" | "context";

interface DiffLine {
  kind: Kind;
  text: string;
}

/** Takes unified diffs, and any other text whose changed lines begin with `+` and `-`. */
export function drawDiff(diff: string, theme: Theme): string[] {
  const lines = parse(diff);
  return lines.map((line, index) => {
    const other = findCounterpart(lines, index);
    return other === undefined
      ? drawLine(line, line.text, theme)
      : drawLine(line, markChange(line.text, other, theme), theme);
  });
}

function parse(diff: string): DiffLine[] {
  let isBeforeHunks = true;
  return diff
    .replace(/\n$/, "")
    .split("\n")
    .map((text) => {
      if (text.startsWith("@@")) {
        isBeforeHunks = false;
        return { kind: "hunk", text };
      }
      // Before the first hunk `---` and `+++` name the files.
      if ((isBeforeHunks && /^(?:---|\+\+\+) /.test(text)) || /^(?:Index:|diff |={10})/.test(text)) {
        return { kind: "file", text };
      }
      if (text.startsWith("+")) return { kind: "added", text };
      return { kind: text.startsWith("-") ? "removed" : "context", text };
    });
}

function drawLine({ kind }: DiffLine, text: string, theme: Theme): string {
  if (kind === "added") return theme.fg("toolDiffAdded", text);
  if (kind === "removed") return theme.fg("toolDiffRemoved", text);
  return theme.fg(kind === "context" ? "toolDiffContext" : "muted", text);
}

/** The line that this one replaced or was replaced by, if that is one line alone. */
function findCounterpart(lines: readonly DiffLine[], index: number): string | undefined {
  const kind = lines[index]?.kind;
  if (kind !== "added" && kind !== "removed") return undefined;
  const other = index + (kind === "removed" ? 1 : -1);
  const isPair = lines[other]?.kind === (kind === "removed" ? "added" : "removed");
  const first = Math.min(index, other);
  const isAlone = lines[first - 1]?.kind !== "removed" && lines[first + 2]?.kind !== "added";
  return isPair && isAlone ? lines[other]?.text : undefined;
}

function markChange(line: string, other: string, theme: Theme): string {
  const [words, otherWords] = [toWords(line.slice(1)), toWords(other.slice(1))];
  let start = 0;
  while (start < words.length && words[start] === otherWords[start]) start++;
  let end = 0;
  const max = Math.min(words.length, otherWords.length) - start;
  while (end < max && words.at(-1 - end) === otherWords.at(-1 - end)) end++;
  const changed = words.slice(start, words.length - end).join("");
  // If nearly everything differs, marks would only disturb.
  if (changed === "" || changed.length > 0.7 * line.length) return line;
  const [before, after] = [words.slice(0, start).join(""), words.slice(words.length - end).join("")];
  return `${line[0] ?? ""}${before}${theme.inverse(changed)}${after}`;
}

const toWords = (text: string): string[] => text.match(/\w+|\s+|[^\w\s]/gu) ?? [];

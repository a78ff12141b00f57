/** Output of a tool: lines, of which only some are shown at first. */
import { parseDiffs } from "@tau/protocol/surface";
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { pluralise } from "@tau/protocol/surface";
import { Hidden } from "../text/hidden.tsx";
import { toPlainOutput, turning } from "../text/visible-text.ts";
import { type Fold, folds, type Shows } from "./describe-call.ts";
import { Diff } from "./diff.tsx";
import { NumberedLine } from "./numbered-line.tsx";

interface FoldedProps<T> {
  lines: readonly T[];
  fold: Fold;
  /** The singular of what a line is. Default: line. */
  noun?: string;
  isError?: boolean;
  /** Draws the lines that are shown: the first ones, the last ones, or all. */
  draw: (lines: readonly T[]) => ComponentChildren;
}

export function Folded<T>({ lines, fold, noun = "line", isError = false, draw }: FoldedProps<T>) {
  const [isWhole, setWhole] = useState(false);
  const canFold = lines.length > fold.lines + 1;
  const isFolded = !isWhole && canFold;
  const start = fold.keeps === "end" ? lines.length - fold.lines : 0;
  const shown = isFolded ? lines.slice(start, start + fold.lines) : lines;
  return (
    <div class={isError ? "output failed" : "output"}>
      {shown.length > 0 && draw(shown)}
      {canFold && (
        <button class="text-button" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isFolded ? `Show ${fold.lines > 0 ? "all " : ""}${pluralise(lines.length, noun)}` : "Show less"}
        </button>
      )}
    </div>
  );
}

export function Output({ text, shows, isError }: { text: string; shows: Shows; isError: boolean }) {
  const lines = useMemo(() => toPlainOutput(text).trimEnd().split("\n"), [text]);
  if (text.trim() === "") return null;
  // Of a command that failed, the reason is at its end.
  const { keeps } = folds[shows];
  const fold: Fold = isError ? { lines: keeps === "end" ? 20 : 12, keeps } : folds[shows];
  return <Folded lines={lines} fold={fold} isError={isError} draw={(shown) => <Plain text={shown.join("\n")} />} />;
}

export function DiffOutput({ diffs }: { diffs: readonly string[] }) {
  const rows = useMemo(() => parseDiffs(diffs.map(toPlainOutput)), [diffs]);
  return <Folded lines={rows} fold={folds.diff} draw={(shown) => <Diff rows={shown} />} />;
}

/** The content that was written to a file. */
export function FileOutput({ content }: { content: string }) {
  const lines = useMemo(() => toPlainOutput(content).replace(/\n$/, "").split("\n"), [content]);
  return (
    <Folded
      lines={lines}
      fold={folds.file}
      draw={(shown) => (
        <pre class="diff" tabIndex={0}>
          {shown.map((text, index) => (
            <NumberedLine key={index} number={index + 1} width={String(shown.length).length} text={text} />
          ))}
        </pre>
      )}
    />
  );
}

/** The code of a cell; its end while it arrives. */
export function CodeOutput({ code, isArriving }: { code: string; isArriving: boolean }) {
  const lines = useMemo(() => toPlainOutput(code).trimEnd().split("\n"), [code]);
  if (code.trim() === "") return null;
  const fold: Fold = { lines: 12, keeps: isArriving ? "end" : "start" };
  return <Folded lines={lines} fold={fold} draw={(shown) => <Plain text={shown.join("\n")} />} />;
}

export const Plain = ({ text }: { text: string }) => (
  <pre tabIndex={0}>
    <Hidden text={text} pattern={turning} />
  </pre>
);

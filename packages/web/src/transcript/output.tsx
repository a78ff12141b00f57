/** Output of a tool: lines, of which only some are shown at first. */
import { useMemo, useState } from "preact/hooks";
import { pluralise } from "../text/format.ts";
import { Hidden } from "../text/hidden.tsx";
import { toPlainOutput, turning } from "../text/visible-text.ts";
import { Diff } from "./diff.tsx";
import { folds, type Shows } from "./describe-call.ts";

export function Output({ text, shows, isError }: { text: string; shows: Shows; isError: boolean }) {
  const [isWhole, setWhole] = useState(false);
  const lines = useMemo(() => toPlainOutput(text).trimEnd().split("\n"), [text]);
  if (text.trim() === "") return null;
  // Of a command that failed, the reason is at its end.
  const fold = isError ? { lines: 12, keeps: folds[shows].keeps } : folds[shows];
  const isFolded = !isWhole && lines.length > fold.lines + 1;
  const kept = !isFolded
    ? lines
    : fold.keeps === "end"
      ? lines.slice(lines.length - fold.lines)
      : lines.slice(0, fold.lines);
  const button = lines.length > fold.lines + 1 && (
    <button class="text-button" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
      {isFolded ? `Show ${isFolded && fold.lines > 0 ? "all " : ""}${pluralise(lines.length, "line")}` : "Show less"}
    </button>
  );
  const body = kept.join("\n");
  return (
    <div class={isError ? "output failed" : "output"}>
      {kept.length > 0 && (shows === "diff" && !isError ? <Diff text={body} /> : <Plain text={body} />)}
      {button}
    </div>
  );
}

const Plain = ({ text }: { text: string }) => (
  <pre tabIndex={0}>
    <Hidden text={text} pattern={turning} />
  </pre>
);

export type DiffKind = "added" | "removed" | "file" | "hunk" | "context";

/** Takes unified diffs, and any other text whose changed lines begin with `+` and `-`. Pure. */
export function classifyDiff(diff: string): { kind: DiffKind; line: string }[] {
  let isBeforeHunks = true;
  return diff
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => {
      if (line.startsWith("@@")) {
        isBeforeHunks = false;
        return { kind: "hunk", line };
      }
      // Before the first hunk `---` and `+++` name the files.
      const isFile = (isBeforeHunks && /^(?:---|\+\+\+) /.test(line)) || /^(?:Index:|diff |={10})/.test(line);
      if (isFile) return { kind: "file", line };
      return { kind: line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "context", line };
    });
}

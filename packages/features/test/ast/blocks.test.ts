/** Hashline edits of whole blocks in real sessions, with the real parser. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { call, text } from "@tau/ai/testing";
import type { ToolResultMessage } from "@tau/ai";
import { expect, onTestFinished, test } from "vitest";
import { ast, discovery } from "../../src/index.ts";
import { createTestSession, type TestSessionParams } from "../kit.ts";

const tools = ["read", "hashline_edit", "hashline_patch"];

async function run(
  files: Record<string, string>,
  calls: readonly [string, object][],
  params: Partial<TestSessionParams> = {},
) {
  const turns = [...calls.map(([name, args]) => [call(name, args)]), [text("Done.")]];
  const opened = await createTestSession(turns, { files, tools, features: [discovery(), ast()], ...params });
  onTestFinished(() => opened.dispose());
  await opened.prompt("go");
  const results = opened.session.messages.filter(({ role }) => role === "toolResult") as ToolResultMessage[];
  return {
    results: results.map(({ content }) => content.map((block) => (block.type === "text" ? block.text : "")).join("\n")),
    read: (name: string) => readFileSync(join(opened.session.cwd, name), "utf8"),
  };
}

const source = `import x from "y";

export function first() {
  return [
    1,
  ];
}

class Second {
  method() {
    return 1;
  }
}
`;

const readAll = (path: string): [string, object] => ["read", { path, hashline: true }];

test("N* is the block of the syntax tree, and a line without one is refused with the nearest", async () => {
  const { results, read } = await run({ "a.ts": source }, [
    readAll("a.ts"),
    ["hashline_edit", { path: "a.ts", edits: [{ op: "replace", pos: "5*#ZP", lines: null }] }],
  ]);
  const tags = new Map([...results[0]!.matchAll(/^(\d+)#(..):/gm)].map(([, line, tag]) => [Number(line), tag!]));
  const fileTag = /#([0-9a-f]{4})$/m.exec(results[0]!)![1];
  expect(results[1]).toContain("the tag does not belong to line 5");
  const edited = await run({ "a.ts": source }, [
    readAll("a.ts"),
    ["hashline_edit", { path: "a.ts", edits: [{ op: "replace", pos: `5*#${tags.get(5)}`, lines: null }] }],
    ["hashline_patch", { patch: `¶a.ts#${fileTag}\n3*:\n+export const first = 1;\n10*!` }],
  ]);
  expect(edited.results[1]).toMatch(
    /line 5 opens no block; the nearest line that does is 4 \(its block ends at line 6\)/,
  );
  expect(edited.results[2]).toContain("the block is lines 3-7.");
  expect(edited.read("a.ts")).toBe(`import x from "y";\n\nexport const first = 1;\n\nclass Second {\n}\n`);
  expect(read("a.ts")).toBe(source);
});

test("an edit that breaks the syntax says so; one of a file without a grammar, or without the feature, does not", async () => {
  const broken: [string, object] = [
    "hashline_edit",
    { path: "a.ts", edits: [{ op: "append", lines: ["function ("] }] },
  ];
  const text = { path: "a.txt", edits: [{ op: "append", lines: ["function ("] }] };
  const files = { "a.ts": "const a = 1;\n", "a.txt": "a\n" };
  const { results } = await run(files, [readAll("a.ts"), broken, readAll("a.txt"), ["hashline_edit", text]]);
  expect(results[1]).toContain("a.ts has a syntax error now, at line 2; before this edit it had none.");
  expect(results[3]).not.toContain("syntax");
  const off = await run(files, [readAll("a.ts"), broken], { settings: { features: { ast: false } } });
  expect(off.results[1]).toMatch(/^Edited a\.ts\./);
  expect(off.results[1]).not.toContain("syntax");
});

test("a byte order mark, line ends of Windows and a last line without one stay as they are, in both inputs", async () => {
  const lines = ["class A {", "  f() {", "    g();", "  }", "}", "", "// last", "function h() {", "  g();", "}"];
  const files = { "a.ts": `\ufeff${lines.join("\r\n")}` };
  const shown = await run(files, [readAll("a.ts")]);
  const tag = (line: number) => new RegExp(`^${line}(#..):`, "m").exec(shown.results[0]!)![1];
  const fileTag = /#([0-9a-f]{4})$/m.exec(shown.results[0]!)![1];
  const asEdits = [
    { op: "replace", pos: `8*${tag(8)}`, lines: ["h();"] },
    { op: "append", pos: `2*${tag(2)}`, lines: ["  i() {}"] },
  ];
  const asPatch = `¶a.ts#${fileTag}\n8*:h();\n2*↓  i() {}`;
  for (const edit of [
    ["hashline_edit", { path: "a.ts", edits: asEdits }],
    ["hashline_patch", { patch: asPatch }],
  ] satisfies [string, object][]) {
    const { results, read } = await run(files, [readAll("a.ts"), edit]);
    expect(results[1]).toContain("the block is lines 8-10.");
    const expected = [...lines.slice(0, 4), "  i() {}", ...lines.slice(4, 7), "h();"];
    expect(read("a.ts")).toBe(`\ufeff${expected.join("\r\n")}`);
  }
});

/** Edits of whole blocks, and of files whose syntax they break. The outlines are given, so that each test says what is parsed. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createFakeClock } from "@tau/ai/testing";
import type { TextContent } from "@tau/ai";
import { expect, test } from "vitest";
import { createFileQueue } from "../src/files/file-queue.ts";
import { createHashlineEditTool } from "../src/hashline/hashline-edit.ts";
import { createHashlinePatchTool } from "../src/hashline/hashline-patch.ts";
import { showHashline } from "../src/hashline/show.ts";
import { createSnapshots } from "../src/hashline/snapshots.ts";
import { lineTag } from "../src/hashline/tags.ts";
import { createFiles } from "../src/platform/files.ts";
import type { Syntax, SyntaxOutline } from "../src/platform/syntax.ts";
import { scratch } from "./scratch.ts";

/** Blocks from a line that ends in `{` to its `}` with the same indentation. A text with `BROKEN` has an error there. */
function outlineBraces(text: string): SyntaxOutline {
  const lines = text.split("\n");
  const indentation = (line: string) => line.length - line.trimStart().length;
  const blocks = lines.flatMap((opener, index) => {
    if (!opener.endsWith("{")) return [];
    const isEnd = (line: string, at: number) =>
      at > index && line.trim() === "}" && indentation(line) === indentation(opener);
    return [{ line: index + 1, endLine: lines.findIndex(isEnd) + 1 }];
  });
  const broken = lines.findIndex((line) => line.includes("BROKEN"));
  return { kind: "outline", symbols: [], blocks, errorLine: broken < 0 ? undefined : broken + 1 };
}

const source = "const a = 1;\nfunction f() {\n  if (a) {\n    g();\n  }\n}\nend();\n";

function open(content = source, { name = "f.js", ...given }: { name?: string; syntax?: Syntax | undefined } = {}) {
  const cwd = scratch();
  const path = join(cwd, name);
  writeFileSync(path, content);
  const snapshots = createSnapshots();
  const clock = createFakeClock();
  const parsed: string[] = [];
  const syntax: Syntax = {
    knows: (file) => file.endsWith(".js"),
    async getOutline(_path, text) {
      parsed.push(text);
      return outlineBraces(text);
    },
  };
  const ports = { cwd, files: createFiles(), queue: createFileQueue(), snapshots, clock, syntax, ...given };
  const [editor, patcher] = [createHashlineEditTool(ports), createHashlinePatchTool(ports)];
  const getText = ({ content: [block] }: { content: unknown[] }) => (block as TextContent).text;
  const read = (window: { offset?: number; limit?: number } = {}) =>
    showHashline(snapshots, { typed: name, realPath: path, bytes: readFileSync(path) }, window).text;
  return {
    clock,
    parsed,
    read,
    content: () => readFileSync(path, "utf8"),
    write: (text: string) => writeFileSync(path, text),
    /** The anchor of a line of the source. */
    at: (line: number, star = "*") => `${line}${star}#${lineTag(content.split("\n")[line - 1]!)}`,
    edit: async (...edits: { op: "replace" | "prepend" | "append"; pos: string; lines: string[] | null }[]) =>
      getText(await editor.execute("id", { path: name, edits })),
    patch: async (operations: string) => {
      const tag = /#([0-9a-f]{4})$/m.exec(read())![1];
      return getText(await patcher.execute("id", { patch: `¶${name}#${tag}\n${operations}` }));
    },
  };
}

test("LINE*#TAG is the block that opens there: it is replaced, deleted, or lines go before or after it", async () => {
  const replaced = open();
  replaced.read();
  const text = await replaced.edit({ op: "replace", pos: replaced.at(2), lines: ["const f = g;"] });
  expect(replaced.content()).toBe("const a = 1;\nconst f = g;\nend();\n");
  expect(text).toContain("edit 1: the block is lines 2-6.");
  const around = open();
  around.read();
  await around.edit(
    { op: "append", pos: around.at(2), lines: ["// after"] },
    { op: "prepend", pos: `2#${lineTag("function f() {")}*:function f() {`, lines: ["// before"] },
    { op: "replace", pos: around.at(3), lines: null },
  );
  expect(around.content()).toBe("const a = 1;\n// before\nfunction f() {\n}\n// after\nend();\n");
  expect(around.parsed.length, "one text is parsed once, and once more when it is written").toBe(2);
});

test("N* in a patch is the same, with and without a tag", async () => {
  const opened = open();
  await opened.patch("2*↓// after\n3*:\n+  g();");
  expect(opened.content()).toBe("const a = 1;\nfunction f() {\n  g();\n}\n// after\nend();\n");
  const tagged = open();
  await tagged.patch(`${tagged.at(2)}!`);
  expect(tagged.content()).toBe("const a = 1;\nend();\n");
});

test("a line that opens no block is refused with the nearest that does, and its tag", async () => {
  const opened = open();
  opened.read();
  const refused = opened.edit({ op: "replace", pos: opened.at(4), lines: [] });
  await expect(refused).rejects.toThrow(
    /edit 1: line 4 opens no block; the nearest line that does is 3 \(its block ends at line 5\)[^]*3#..: {2}if \(a\) \{/,
  );
  await expect(opened.patch("7*!")).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringContaining("nearest line that does is 3"),
  });
  expect(opened.content()).toBe(source);
  const flat = open("a\nb\n");
  flat.read();
  await expect(flat.edit({ op: "replace", pos: flat.at(1), lines: [] })).rejects.toThrow("no line of this file does");
});

test("a block is no part of a range", async () => {
  const opened = open();
  opened.read();
  await expect(opened.patch("2*-6:x")).rejects.toThrow("5* is a whole block and no part of a range");
  await expect(opened.patch("2-6*:x")).rejects.toThrow("5* is a whole block and no part of a range");
  const edit = { op: "replace", pos: opened.at(2), end: opened.at(6, ""), lines: [] } as const;
  await expect(opened.edit({ ...edit, lines: [] })).rejects.toThrow("takes no end");
});

test("a block is found in the text that was shown, and follows its lines when others changed", async () => {
  const opened = open();
  opened.read();
  opened.write(`// new\n// new\n${source}`);
  const text = await opened.edit({ op: "replace", pos: opened.at(2), lines: ["f();"] });
  expect(opened.content()).toBe("// new\n// new\nconst a = 1;\nf();\nend();\n");
  expect(text).toContain("lines 2-6 found unchanged, now lines 4-8");
  const changed = open();
  changed.read();
  changed.write(source.replace("g();", "h();"));
  await expect(changed.edit({ op: "replace", pos: changed.at(2), lines: [] })).rejects.toMatchObject({ code: "stale" });
});

test("lines of a block that were not shown are not replaced; lines after it need its two ends", async () => {
  const opened = open();
  opened.read({ limit: 3 });
  const refused = opened.edit({ op: "replace", pos: opened.at(2), lines: [] });
  await expect(refused).rejects.toThrow("lines 2-6 had not been shown with tags yet");
  const inserting = open();
  inserting.read({ limit: 2 });
  const insertion = { op: "append", pos: inserting.at(2), lines: ["// after"] } as const;
  const append = () => inserting.edit({ ...insertion, lines: [...insertion.lines] });
  await expect(append()).rejects.toThrow("line 6 had not been shown with tags yet");
  await append();
  expect(inserting.content()).toContain("}\n// after\nend();");
});

test("without a parser, or one that has no answer, a block is refused and nothing else is", async () => {
  const without = open(source, { syntax: undefined });
  without.read();
  await expect(without.edit({ op: "replace", pos: without.at(2), lines: [] })).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("Name the first and the last line instead"),
  });
  await without.edit({ op: "replace", pos: without.at(1, ""), lines: ["const a = 2;"] });
  const syntax: Syntax = {
    knows: () => true,
    getOutline: async () => ({ kind: "unavailable", message: "Install it." }),
  };
  const failing = open(source, { syntax });
  failing.read();
  await expect(failing.edit({ op: "replace", pos: failing.at(2), lines: [] })).rejects.toThrow("Install it.");
  expect(await failing.edit({ op: "replace", pos: failing.at(1, ""), lines: ["BROKEN"] })).not.toContain("syntax");
});

test("an edit that breaks the syntax of a file says so; a file that was broken before, or is unknown, is not named", async () => {
  const opened = open();
  opened.read();
  const text = await opened.edit({ op: "replace", pos: opened.at(1, ""), lines: ["", "BROKEN"] });
  expect(text).toMatch(/\nf\.js has a syntax error now, at line 2; before this edit it had none\.$/);
  opened.read();
  const again = await opened.edit({ op: "replace", pos: `2#${lineTag("BROKEN")}`, lines: ["BROKEN too"] });
  expect(again).not.toContain("syntax error");
  const unknown = open(source, { name: "f.txt" });
  unknown.read();
  expect(await unknown.edit({ op: "replace", pos: unknown.at(1, ""), lines: ["BROKEN"] })).not.toContain("syntax");
  expect(unknown.parsed).toEqual([]);
});

test("a parser that hangs costs one second once, and the note", async () => {
  let count = 0;
  const syntax: Syntax = {
    knows: () => true,
    getOutline: () => {
      count++;
      return new Promise(() => {});
    },
  };
  const opened = open(source, { syntax });
  opened.read();
  const edited = opened.edit({ op: "replace", pos: opened.at(1, ""), lines: ["BROKEN"] });
  await expect.poll(() => count).toBe(1);
  await opened.clock.advance(1_000);
  expect(await edited).toContain("Edited f.js.");
  opened.read();
  expect(await opened.edit({ op: "replace", pos: `1#${lineTag("BROKEN")}`, lines: ["x"] })).toContain("Edited f.js.");
  expect(count).toBe(1);
});

import { createFileQueue } from "../src/files/file-queue.ts";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TextContent } from "@tau/ai";
import { describe, expect, test } from "vitest";
import type { RequestedEdit } from "../src/hashline/edit-arguments.ts";
import { createHashlineEditTool } from "../src/hashline/hashline-edit.ts";
import { createHashlinePatchTool } from "../src/hashline/hashline-patch.ts";
import { showHashline } from "../src/hashline/show.ts";
import { createSnapshots } from "../src/hashline/snapshots.ts";
import { lineTag } from "../src/hashline/tags.ts";
import { createFiles } from "../src/platform/files.ts";
import { scratch } from "./scratch.ts";

function desk() {
  const cwd = scratch();
  const snapshots = createSnapshots();
  const ground = { cwd, files: createFiles(), queue: createFileQueue(), snapshots };
  const editor = createHashlineEditTool(ground);
  const patcher = createHashlinePatchTool(ground);
  const answer = async <T>(work: Promise<{ content: unknown[]; details?: T }>) => {
    try {
      const { content, details } = await work;
      return { text: (content[0] as TextContent).text, details };
    } catch (error) {
      return { text: (error as Error).message, details: undefined };
    }
  };
  return {
    write: (content: string, name = "f") => writeFileSync(join(cwd, name), content),
    content: (name = "f") => readFileSync(join(cwd, name), "utf8"),
    read(name = "f") {
      const path = join(cwd, name);
      const file = { typed: name, realPath: path, bytes: readFileSync(path) };
      const { text, totalLines, shownLines } = showHashline(snapshots, file);
      for (let at = 1 + shownLines; at <= totalLines;) {
        at += showHashline(snapshots, file, { offset: at }).shownLines || 1;
      }
      return /#([0-9a-f]{4})$/m.exec(text)![1]!;
    },
    edit: (edits: RequestedEdit[]) => answer(editor.execute("id", { path: "f", edits } as never)),
    patch: (patch: string) => answer(patcher.execute("id", { patch })),
  };
}

const anchor = (line: number, text: string) => `${line}#${lineTag(text)}`;
const numbered = (count: number, what = "line") => Array.from({ length: count }, (_unused, at) => `${what} ${at + 1}`);
const getText = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("");
function expectBounded(text: string) {
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(50 * 1024);
  expect(text.split("\n").length).toBeLessThanOrEqual(2_000);
}

describe("an answer stays within 2,000 lines and 50 KB", () => {
  test("when 2,000 edits are stale, and it says how many more there are", async () => {
    const { write, edit } = desk();
    write(getText(numbered(10_000)));
    const { text } = await edit(
      numbered(2_000).map((_line, at) => ({ op: "replace", pos: anchor(at * 5 + 1, "not it"), lines: "x" })),
    );
    expectBounded(text);
    expect(text).toMatch(/edit 10: .* 1990 more could not be placed either\.\n/);
    // Those that are shown come in order, and the first is among them.
    expect(text).toContain(`\n${anchor(1, "line 1")}:line 1\n`);
    expect(text).toMatch(/\[Not all of it is shown: read the rest with hashline: true\.\]$/);
  });

  test("when 300 sections of a patch are stale", async () => {
    const { write, patch } = desk();
    const names = numbered(300, "file");
    for (const name of names) write(getText(numbered(300, "a somewhat longer line of text")), name);
    const { text } = await patch(names.map((name) => `¶${name}#0000\n1-300!\n`).join(""));
    expectBounded(text);
    expect(text.match(/Nothing was changed in/g)).toHaveLength(10);
    expect(text).toMatch(/\n\nThe edits of 290 more files could not be placed either\.$/);
    // Each has its share: not only the first shows its lines.
    expect(text.match(/^1#..:/gm)).toHaveLength(10);
  });

  test("when 1,900 edits had to be found again", async () => {
    const { write, read, edit, content } = desk();
    const lines = numbered(1_900);
    write(getText(lines));
    read();
    write(`new\n${getText(lines)}`);
    const { text, details } = await edit(
      lines.map((line, at) => ({ op: "replace", pos: anchor(at + 1, line), lines: `X${at}` })),
    );
    expect(content()).toBe(getText(["new", ...lines.map((_line, at) => `X${at}`)]));
    expectBounded(text);
    expect(text).toMatch(/\n1880 more edits were placed so\.\n/);
    expect(details!.recoveries).toHaveLength(21);
  });

  test("when a patch changes much in many files, the diffs in its details too", async () => {
    const { write, read, patch } = desk();
    const names = numbered(25, "file");
    for (const name of names) write(getText(numbered(300)), name);
    const fresh = numbered(300, "+something else that is put in its place");
    const { text, details } = await patch(
      names.map((name) => `¶${name}#${read(name)}\n1-300:\n${getText(fresh)}`).join(""),
    );
    expectBounded(text);
    expect(text).toMatch(/\n\n15 more files were edited\.$/);
    expect(details!.files).toHaveLength(25);
    expect(Buffer.byteLength(details!.files.map(({ diff }) => diff).join(""))).toBeLessThan(55 * 1024);
  });
});

describe("a line that is too long to show", () => {
  const long = "x".repeat(60_000);

  test.each([
    [60_000, "58.6 KB"],
    [2_000, "2.0 KB"],
  ])("beside the spot is left out, so that the spot is shown and one retry succeeds (%i)", async (length, size) => {
    const { write, edit, content } = desk();
    const beside = "x".repeat(length);
    write(getText(["a", beside, "c", "d"]));
    const { text } = await edit([{ op: "replace", pos: anchor(3, "not c"), lines: "C" }]);
    expectBounded(text);
    expect(text).toContain(`\n${anchor(1, "a")}:a\n2: [${size}, left out]\n${anchor(3, "c")}:c\n${anchor(4, "d")}:d`);
    await edit([{ op: "replace", pos: anchor(3, "c"), lines: "C" }]);
    expect(content()).toBe(getText(["a", beside, "C", "d"]));
  });

  test("and is the one to change is named, with what to do instead; it does not count as shown", async () => {
    const { write, edit, content } = desk();
    write(getText(["a", long, "c"]));
    const wanted: RequestedEdit[] = [{ op: "replace", pos: anchor(2, long), end: anchor(3, "c"), lines: "C" }];
    const { text } = await edit(wanted);
    expect(text).toContain(
      `\n2: [58.6 KB, too long to be shown, and so to be changed by its tag: use edit or bash]\n${anchor(3, "c")}:c`,
    );
    expect((await edit(wanted)).text).toMatch(/had not been shown/);
    expect(content()).toBe(getText(["a", long, "c"]));
  });

  test("does not keep an edit that made it from being shown around it", async () => {
    const { write, read, edit } = desk();
    write(getText(["a", "b", "c"]));
    read();
    const { text } = await edit([{ op: "replace", pos: anchor(2, "b"), lines: ["B", long] }]);
    expectBounded(text);
    expect(text).toMatch(/\n2#..:B\n3: \[58\.6 KB, .*\]\n4#..:c$/);
  });
});

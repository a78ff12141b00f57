import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TextContent } from "@tau/ai";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createLsTool } from "../src/files/ls.ts";
import { showName } from "../src/files/show-name.ts";
import { createFiles } from "../src/platform/files.ts";
import { scratch } from "./scratch.ts";

const ls = async (cwd: string, args: { path?: string; limit?: number } = {}) => {
  const { content, details } = await createLsTool({ cwd, files: createFiles() }).execute("id", args);
  return { text: (content[0] as TextContent).text, details: details! };
};

const withFiles = (names: readonly string[]) => {
  const cwd = scratch();
  for (const name of names) writeFileSync(join(cwd, name), "");
  return cwd;
};

test("names are sorted without regard to case, dotfiles included, directories with a slash", async () => {
  const cwd = withFiles(["b", "A", "c", "B", ".hidden", "Z", "ä", "zz", "zZ", "Zz", "ZZ"]);
  mkdirSync(join(cwd, "Dir"));
  expect(await ls(cwd)).toEqual({
    text: ".hidden\nA\nB\nb\nc\nDir/\nZ\nZZ\nZz\nzZ\nzz\nä",
    details: { path: cwd, shownEntries: 12, totalEntries: 12 },
  });
});

test("links show where they lead, and one that leads nowhere hides nothing", async () => {
  const cwd = withFiles(["file"]);
  mkdirSync(join(cwd, "dir"));
  const outside = scratch();
  for (const [name, target] of [
    ["a", "file"],
    ["b", "dir"],
    ["c", "gone"],
    ["d", "d"],
    ["e", outside],
    ["f", "."],
  ] as const) {
    symlinkSync(target, join(cwd, name));
  }
  expect((await ls(cwd)).text.split("\n")).toEqual([
    "a -> file",
    "b/ -> dir/",
    "c -> gone (missing)",
    "d -> (cannot be followed: ELOOP)",
    "dir/",
    `e/ -> ${outside}/`,
    "f/ -> ./",
    "file",
  ]);
});

test("a relative path is meant from the working directory", async () => {
  const cwd = scratch();
  mkdirSync(join(cwd, "sub"));
  writeFileSync(join(cwd, "sub", "inner"), "");
  expect((await ls(cwd, { path: "sub" })).text).toBe("inner");
});

test("an empty directory is called empty", async () => {
  expect(await ls(scratch())).toMatchObject({
    text: "(the directory is empty)",
    details: { shownEntries: 0, totalEntries: 0 },
  });
});

test("at most 500 entries are shown, or as many as asked for, and it says how many are left out", async () => {
  const cwd = withFiles(Array.from({ length: 620 }, (_unused, at) => `f${String(at).padStart(4, "0")}`));
  const { text, details } = await ls(cwd);
  expect(text.split("\n\n")[0]!.split("\n")).toHaveLength(500);
  expect(text).toMatch(/f0499\n\n\[Showing 500 of 620 entries, 120 left out\. .*limit.*\]$/);
  expect(details).toMatchObject({ shownEntries: 500, totalEntries: 620 });
  expect((await ls(cwd, { limit: 2 })).text).toMatch(/^f0000\nf0001\n\n\[Showing 2 of 620 entries, 618 left out/);
  expect((await ls(cwd, { limit: 620 })).text).toMatch(/f0619$/);
});

test("long names stop at the limit in bytes, between two entries", async () => {
  const cwd = withFiles(
    Array.from({ length: 400 }, (_unused, at) => `${String(at).padStart(3, "0")}${"x".repeat(240)}`),
  );
  const { text, details } = await ls(cwd);
  expect(Buffer.byteLength(text)).toBeLessThan(51 * 1024);
  expect(details.shownEntries).toBe(text.split("\n\n")[0]!.split("\n").length);
  expect(text).toMatch(
    new RegExp(`Showing ${details.shownEntries} of 400 entries, ${400 - details.shownEntries} left`),
  );
});

test("one entry is one line of plain text, whatever its name is", async () => {
  const cwd = withFiles([
    "two\nlines",
    "\u001b[31mred",
    "right\u202eleft",
    "\u{e0041}tag",
    " blank",
    "a -> b",
    'say "x"',
  ]);
  expect((await ls(cwd)).text.split("\n")).toEqual([
    '"\\u001b[31mred"',
    '" blank"',
    '"a -> b"',
    '"right\\u202eleft"',
    'say "x"',
    '"two\\nlines"',
    '"\\udb40\\udc41tag"',
  ]);
});

test("a line stands for one name only, and a quoted one is the name as JSON", () => {
  const piece = fc.constantFrom(
    "a",
    "\n",
    "\\",
    '"',
    "\\n",
    "\u001b",
    "\u202e",
    "\u2028",
    "\u0085",
    " ",
    " -> ",
    "\u{e0041}",
    "é",
  );
  const names = fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join(""));
  fc.assert(
    fc.property(names, (name) => {
      const shown = showName(name);
      expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      expect(shown.startsWith('"') ? (JSON.parse(shown) as string) : shown).toBe(name);
    }),
    { numRuns: 2_000 },
  );
});

test.runIf(process.platform === "linux")("a name that is not UTF-8 is said to be none", async () => {
  const cwd = withFiles(["really \ufffd"]);
  writeFileSync(Buffer.from(`${cwd}/bad\xff`, "latin1"), "");
  expect((await ls(cwd)).text.split("\n")).toEqual([
    "bad\ufffd (the name is not UTF-8: use a wildcard in bash)",
    "really \ufffd",
  ]);
});

test("a call that was given up says so", async () => {
  const tool = createLsTool({ cwd: withFiles(["a"]), files: createFiles() });
  await expect(tool.execute("id", {}, AbortSignal.abort())).rejects.toMatchObject({ code: "aborted" });
});

test("what is no directory is explained", async () => {
  const cwd = withFiles(["file"]);
  await expect(ls(cwd, { path: "file" })).rejects.toMatchObject({ code: "not_a_directory" });
  await expect(ls(cwd, { path: "nope" })).rejects.toMatchObject({ code: "not_found" });
});

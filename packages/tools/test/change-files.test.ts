/** `change_files`: what it changes, what it keeps, and when it changes nothing. */
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createChangeFilesTool } from "../src/changes/change-files.ts";
import { changeFilesDefinition } from "../src/changes/definition.ts";
import { createChangeJournal } from "../src/changes/journal.ts";
import { ToolsError } from "../src/errors.ts";
import { createFileQueue } from "../src/files/file-queue.ts";
import { createFiles } from "../src/platform/files.ts";
import { nodeFileSystem } from "../src/platform/file-system.ts";
import { withEveryFault } from "../src/testing/faults.ts";
import { quickScratch } from "./scratch.ts";

type Changes = Parameters<ReturnType<typeof createChangeFilesTool>["execute"]>[1]["changes"];

const sha256 = (content: string | Buffer) => createHash("sha256").update(content).digest("hex");

function prepare(files: Record<string, string | Buffer>): string {
  const cwd = quickScratch();
  for (const [name, content] of Object.entries(files)) writeFileSync(join(cwd, name), content);
  return cwd;
}

const change = (cwd: string, changes: Changes, files = createFiles(), seen = new Map<string, string>()) =>
  createChangeFilesTool({ cwd, files, queue: createFileQueue(), seen }).execute("id", { changes, reason: "test" });

const read = (cwd: string, name: string) => readFileSync(join(cwd, name), "utf8");

test("edits keep the byte order mark, the line ends and the mode, and count positions without the mark", async () => {
  const cwd = prepare({ "a.ts": "\ufeffone\r\ntwo\r\nthree\r\n" });
  chmodSync(join(cwd, "a.ts"), 0o755);
  const seen = new Map<string, string>();
  const edits = [
    { start: 5, end: 8, text: "2\n2b" },
    { start: 0, end: 3, text: "1" },
  ];
  const { details, content } = await change(cwd, [{ path: "a.ts", edits }], undefined, seen);
  expect(read(cwd, "a.ts")).toBe("\ufeff1\r\n2\r\n2b\r\nthree\r\n");
  expect(statSync(join(cwd, "a.ts")).mode & 0o777).toBe(0o755);
  expect(details).toMatchObject({ files: [{ path: join(cwd, "a.ts"), kind: "changed", firstChangedLine: 1 }] });
  expect(details!.diff).toContain("+2b");
  expect(content).toEqual([{ type: "text", text: `Changed ${join(cwd, "a.ts")}.` }]);
  // The model may write the file next without reading it again.
  expect(seen.has(join(cwd, "a.ts"))).toBe(true);
});

test("files are created, moved and removed together, and a file that moves can change", async () => {
  const cwd = prepare({ "a.ts": "a\n", "b.ts": "b\n" });
  const { details } = await change(cwd, [
    { path: "a.ts", moveTo: "deep/er/a.ts" },
    { path: "a.ts", sha256: sha256("a\n"), edits: [{ start: 0, end: 1, text: "A" }] },
    { path: "b.ts", sha256: sha256("b\n"), remove: true },
    { path: "c/new.ts", content: "c\n" },
  ]);
  expect(readdirSync(cwd).toSorted()).toEqual(["c", "deep"]);
  expect([read(cwd, "deep/er/a.ts"), read(cwd, "c/new.ts")]).toEqual(["A\n", "c\n"]);
  expect(details!.files.map(({ kind }) => kind).toSorted()).toEqual(["changed", "created", "moved", "removed"]);
  expect(details!.diff).toContain("rename to deep/er/a.ts");
});

test.each<[string, Changes[number], string]>([
  ["a file that changed since", { path: "a.ts", sha256: sha256("seen"), content: "x" }, "changed"],
  ["a file that is gone", { path: "gone.ts", sha256: sha256("seen"), edits: [] }, "changed"],
  ["a new file that exists", { path: "a.ts", content: "x" }, "changed"],
  ["a move onto a file", { path: "a.ts", moveTo: "other.ts" }, "changed"],
  ["a move of a file that changed", { path: "a.ts", sha256: sha256("seen"), moveTo: "z.ts" }, "changed"],
  ["a position outside", { path: "a.ts", edits: [{ start: 1, end: 9, text: "" }] }, "invalid_input"],
  ["a position before", { path: "a.ts", edits: [{ start: -1, end: 0, text: "" }] }, "invalid_input"],
  ["two changes of one file", { path: "./first.ts", content: "x" }, "invalid_input"],
  ["a move to a changed file", { path: "a.ts", moveTo: "first.ts" }, "invalid_input"],
  ["a file that is not text", { path: "binary", edits: [{ start: 0, end: 0, text: "x" }] }, "binary"],
  ["a directory", { path: "directory", remove: true }, "not_a_file"],
  [
    "edits that overlap",
    {
      path: "a.ts",
      edits: [
        { start: 0, end: 2, text: "" },
        { start: 1, end: 2, text: "" },
      ],
    },
    "overlap",
  ],
])("%s refuses the whole call, and nothing is changed", async (_name, bad, code) => {
  const cwd = prepare({ "first.ts": "first", "a.ts": "abc", "other.ts": "o", binary: Buffer.from([0, 1, 2]) });
  mkdirSync(join(cwd, "directory"));
  const changes: Changes = [{ path: "first.ts", sha256: sha256("first"), content: "changed" }, bad];
  await expect(change(cwd, changes)).rejects.toMatchObject({ code });
  expect([read(cwd, "first.ts"), read(cwd, "a.ts"), read(cwd, "other.ts")]).toEqual(["first", "abc", "o"]);
  expect(existsSync(join(cwd, "z.ts"))).toBe(false);
});

test("a link is changed through, and neither moved nor removed", async () => {
  const cwd = prepare({ "a.ts": "abc" });
  symlinkSync("a.ts", join(cwd, "link.ts"));
  await change(cwd, [{ path: "link.ts", edits: [{ start: 0, end: 1, text: "x" }] }]);
  expect(read(cwd, "a.ts")).toBe("xbc");
  const files = createFiles();
  await expect(files.remove(join(cwd, "link.ts"))).rejects.toMatchObject({ code: "not_a_file" });
  await expect(files.move(join(cwd, "link.ts"), join(cwd, "z"))).rejects.toMatchObject({ code: "not_a_file" });
  expect(read(cwd, "link.ts")).toBe("xbc");
});

test("the guard is asked about every file, by its real path, and one refusal refuses all", async () => {
  const cwd = prepare({ "a.ts": "a", "b.ts": "b" });
  mkdirSync(join(cwd, "closed"));
  const guard = (path: string, access: string) => {
    if (access === "write" && path.startsWith(join(cwd, "closed"))) throw new ToolsError("denied", "Closed.");
  };
  const files = createFiles({ guard });
  const first: Changes = [{ path: "a.ts", sha256: sha256("a"), content: "x" }];
  for (const change2 of [
    { path: "closed/new.ts", content: "x" },
    { path: "b.ts", moveTo: "closed/b.ts" },
  ] satisfies Changes) {
    await expect(change(cwd, [...first, change2], files)).rejects.toMatchObject({ code: "denied" });
  }
  await expect(files.move(join(cwd, "b.ts"), join(cwd, "closed/b.ts"))).rejects.toMatchObject({ code: "denied" });
  expect([read(cwd, "a.ts"), read(cwd, "b.ts")]).toEqual(["a", "b"]);
});

test("a call names every path that it writes, also the new name", () => {
  const args = {
    changes: [
      { path: "a", moveTo: "../b" },
      { path: "/c", remove: true },
    ],
    reason: "Rename a",
  };
  expect(changeFilesDefinition.access(args, "/w").map(({ target }) => target)).toEqual(
    ["/w/a", "/b", "/c"].map((path) => ({ kind: "path", path })),
  );
  expect(changeFilesDefinition.access({}, "/w")).toMatchObject([{ capability: "write", target: { kind: "name" } }]);
  expect(changeFilesDefinition.summarise(args)).toBe("Rename a (changes a, ../b, /c)");
});

test("whichever call to the disk fails, all files are changed or none, or the error names those that are", async () => {
  const count = await withEveryFault(nodeFileSystem, async (fileSystem) => {
    const cwd = prepare({ "a.ts": "a", "b.ts": "b", "c.ts": "c" });
    const journal = createChangeJournal({ directory: join(cwd, ".journal"), fileSystem });
    const tool = createChangeFilesTool({ cwd, files: createFiles({ fileSystem }), queue: createFileQueue(), journal });
    const changes: Changes = [
      { path: "a.ts", content: "A", sha256: sha256("a") },
      { path: "b.ts", moveTo: "d.ts" },
      { path: "c.ts", remove: true },
    ];
    const failure = await tool.execute("id", { changes, reason: "" }).then(
      () => undefined,
      (error: ToolsError) => error,
    );
    const names = readdirSync(cwd).filter((name) => !name.startsWith("."));
    const isNew = names.join() === "a.ts,d.ts" && read(cwd, "a.ts") === "A";
    const isOld = names.join() === "a.ts,b.ts,c.ts" && read(cwd, "a.ts") === "a";
    if (!failure) return expect(isNew).toBe(true);
    expect(failure.message).toMatch(isOld ? /./ : /new content/);
  });
  expect(count).toBeGreaterThan(40);
});

import { mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { systemClock } from "@tau/ai";
import { createFiles } from "@tau/tools";
import { expect, onTestFinished, test } from "vitest";
import { SourceFiles } from "../../src/lsp/source-files.ts";
import { type ToChangesOptions, toFileChanges } from "../../src/lsp/edit-plan.ts";

const range = (line: number, from: number, to: number) => ({
  start: { line, character: from },
  end: { line, character: to },
});

async function createWorkspace() {
  const cwd = await realpath(await mkdtemp(join(tmpdir(), "tau-edit-")));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  await writeFile(join(cwd, "a.ts"), "let a = 1;\n");
  await writeFile(join(cwd, "b.ts"), "let b = '😀';\n");
  await symlink(join(cwd, ".."), join(cwd, "up"));
  const documents = new Map([[join(cwd, "a.ts"), { text: "let a = 1;\n", version: 3 }]]);
  const client = { documents, positionEncoding: "utf-16" } as unknown as ToChangesOptions["client"];
  const options: ToChangesOptions = {
    client,
    cwd,
    files: new SourceFiles({ cwd, clock: systemClock, port: createFiles() }),
  };
  const uri = (name: string) => pathToFileURL(join(cwd, name)).href;
  return { cwd, uri, read: async (edit: unknown) => await toFileChanges([edit], options) };
}

test("a file is created with its text, or empty", async () => {
  const { cwd, uri, read } = await createWorkspace();
  const changes = await read({
    documentChanges: [
      { kind: "create", uri: uri("new.ts") },
      { textDocument: { uri: uri("new.ts"), version: null }, edits: [{ range: range(0, 0, 0), newText: "text" }] },
      { kind: "create", uri: uri("empty.ts") },
    ],
  });
  expect(changes).toHaveLength(2);
  expect(changes).toContainEqual({ path: join(cwd, "new.ts"), content: "text" });
  expect(changes).toContainEqual({ path: join(cwd, "empty.ts"), content: "" });
});

const edit = (line: number, from: number, to: number, newText: string) => ({ range: range(line, from, to), newText });
/** Changes the text of a file; `$` is the directory. */
const text = (name: string, ...edits: object[]) => ({ textDocument: { uri: `$/${name}`, version: null }, edits });
const create = (name: string, options = {}) => ({ kind: "create", uri: `$/${name}`, options });
const move = (from: string, to: string, options = {}) => ({
  kind: "rename",
  oldUri: `$/${from}`,
  newUri: `$/${to}`,
  options,
});
const remove = (name: string, options = {}) => ({ kind: "delete", uri: `$/${name}`, options });

const inWorkspace = (value: unknown, uri: (name: string) => string): unknown =>
  JSON.parse(JSON.stringify(value).replaceAll("$", uri("").replace(/\/$/, "")));

test.each<[name: string, steps: object[], changes: object[]]>([
  [
    "a later change of a text is one of what an earlier one leaves",
    [text("a.ts", edit(0, 4, 5, "longer")), text("a.ts", edit(0, 13, 14, "2"))],
    [{ path: "$/a.ts", edits: [{ start: 4, end: 9, text: "longer = 2" }] }],
  ],
  [
    "a file is changed under its new name",
    [move("a.ts", "c.ts"), text("c.ts", edit(0, 4, 5, "c"))],
    [
      { path: "$/a.ts", edits: [{ start: 4, end: 5, text: "c" }] },
      { path: "$/a.ts", moveTo: "$/c.ts" },
    ],
  ],
  ["the text of a file that is removed does not matter", [text("a.ts", edit(0, 0, 3, "")), remove("a.ts")], [gone()]],
  ["a file that is created and removed never was", [create("c.ts"), remove("c.ts")], []],
  [
    "an existing file may stay",
    [create("a.ts", { ignoreIfExists: true }), move("a.ts", "b.ts", { ignoreIfExists: true })],
    [],
  ],
  [
    "an existing file may be replaced",
    [create("a.ts", { overwrite: true, ignoreIfExists: true }), text("a.ts", edit(0, 0, 0, "new"))],
    [{ path: "$/a.ts", content: "new" }],
  ],
  ["a file that is missing may be", [remove("c.ts", { ignoreIfNotExists: true })], []],
])("%s", async (_name, steps, expected) => {
  const { uri, cwd, read } = await createWorkspace();
  const changes = await read(inWorkspace({ documentChanges: steps }, uri));
  expect(changes).toMatchObject(JSON.parse(JSON.stringify(expected).replaceAll("$", cwd)) as object[]);
  expect(changes).toHaveLength(expected.length);
});

function gone() {
  return { path: "$/a.ts", remove: true };
}

test("several names of one file in an edit without an order are one file", async () => {
  const { uri, read } = await createWorkspace();
  const changes = { "$/%61.ts": [edit(0, 0, 3, "const")], "$/a.ts": [edit(0, 4, 5, "z")] };
  expect(await read(inWorkspace({ changes }, uri))).toMatchObject([{ edits: [{ start: 0 }, { start: 4 }] }]);
});

test.each<[name: string, steps: object[], message: RegExp]>([
  ["overlapping changes", [text("a.ts", edit(0, 0, 5, ""), edit(0, 4, 6, ""))], /overlap/],
  ["a change outside of the file", [text("a.ts", edit(9, 0, 0, ""))], /line 10 is outside/],
  ["a change that begins inside of a character", [text("b.ts", edit(0, 10, 12, "x"))], /line 1 begins or ends inside/],
  [
    "a later part for another version",
    [text("a.ts"), { ...text("a.ts"), textDocument: { uri: "$/a.ts", version: 4 } }],
    /version 4/,
  ],
  ["a file outside of the workspace", [text("../b.ts")], /outside of/],
  ["a file outside of the workspace, behind a link", [create("up/c.ts")], /up\/c\.ts, which is outside of/],
  ["an existing file that would be created", [create("b.ts")], /create b\.ts, which exists/],
  [
    "an existing file that would be replaced by another",
    [move("a.ts", "b.ts", { overwrite: true })],
    /rename a\.ts to b\.ts, which exists/,
  ],
  ["a missing file", [remove("c.ts")], /no file c\.ts/],
  ["a file that has another name by then", [move("a.ts", "c.ts"), text("a.ts", edit(0, 0, 0, "x"))], /no file a\.ts/],
])("%s: nothing is changed", async (_name, documentChanges, message) => {
  const { uri, read } = await createWorkspace();
  const work = read(inWorkspace({ documentChanges }, uri));
  await expect(work).rejects.toThrow("nothing was changed");
  await expect(work).rejects.toThrow(message);
});

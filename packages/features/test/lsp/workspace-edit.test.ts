import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { systemClock } from "@tau/ai";
import { createFiles } from "@tau/tools";
import { expect, onTestFinished, test } from "vitest";
import { SourceFiles } from "../../src/lsp/source-files.ts";
import { type ToChangesOptions, toFileChanges } from "../../src/lsp/workspace-edit.ts";

const range = (line: number, from: number, to: number) => ({
  start: { line, character: from },
  end: { line, character: to },
});

async function createWorkspace() {
  const cwd = await realpath(await mkdtemp(join(tmpdir(), "tau-edit-")));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  await writeFile(join(cwd, "a.ts"), "let a = 1;\n");
  const client = { documents: new Map(), positionEncoding: "utf-16" } as unknown as ToChangesOptions["client"];
  const options: ToChangesOptions = {
    client,
    cwd,
    files: new SourceFiles({ cwd, clock: systemClock, port: createFiles() }),
  };
  const uri = (name: string) => pathToFileURL(join(cwd, name)).href;
  return { cwd, uri, read: async (edit: unknown) => await toFileChanges(edit, options) };
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

test.each([
  ["overlapping", [range(0, 0, 5), range(0, 4, 6)]],
  ["outside of the file", [range(9, 0, 0)]],
])("changes that are %s are refused", async (_name, ranges) => {
  const { uri, read } = await createWorkspace();
  const edits = ranges.map((each) => ({ range: each, newText: "x" }));
  await expect(read({ changes: { [uri("a.ts")]: edits } })).rejects.toThrow("nothing was changed");
});

test("a file outside of the workspace is refused", async () => {
  const { uri, read } = await createWorkspace();
  const edits = [{ range: range(0, 0, 0), newText: "x" }];
  await expect(read({ changes: { [uri("../b.ts")]: edits } })).rejects.toThrow("outside of");
});

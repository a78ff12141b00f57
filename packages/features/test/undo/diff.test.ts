/** `/diff`: what a session did to the files, in real sessions. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { undo } from "../../src/index.ts";
import { joinSteps } from "../../src/undo/session-changes.ts";
import { DialogSurface } from "../dialogs.ts";
import { createTestSession, type TestSessionParams } from "../kit.ts";

type Turns = Parameters<typeof createTestSession>[0];

async function open(turns: Turns, params: TestSessionParams = {}) {
  const surface = new DialogSurface();
  const opened = await createTestSession(turns, { features: [undo()], ...params });
  onTestFinished(() => opened.dispose());
  await opened.session.attachSurface(surface);
  const diff = async () => {
    await opened.session.prompt("/diff");
    return surface.notices.at(-1)!;
  };
  return { ...opened, surface, diff, write: (name: string, to: string) => writeFileSync(join(opened.cwd, name), to) };
}

const bash = (command: string) => call("bash", { command });

test("all prompts are shown by file, also what commands did, without what a person changed before and since", async () => {
  const { prompt, diff, write } = await open(
    [
      [call("edit", { path: "a.txt", edits: [{ oldText: "two", newText: "2" }] })],
      [text("Done.")],
      [bash("rm old.txt; echo made > new.txt; sed -i s/three/3/ a.txt")],
      [text("Done.")],
    ],
    { files: { "a.txt": "one\ntwo\nthree\nsame\nsame\nfour\n", "old.txt": "old\n", "mine.txt": "mine\n" } },
  );
  await prompt("first");
  write("mine.txt", "changed by me\n");
  await prompt("second");
  write("a.txt", "one\n2\n3\nsame\nsame\nfour, and mine\n");
  const shown = await diff();
  expect(shown.split("\n").slice(0, 4)).toEqual([
    "This session changed 3 files (2 prompts):",
    "  a.txt  +2 -2",
    "  new.txt  +1 -0, created",
    "  old.txt  +0 -1, removed",
  ]);
  expect(shown).toContain("-two\n-three\n+2\n+3\n same\n same\n four, and mine");
  expect(shown).toContain("Create new.txt\n--- new.txt\n+++ new.txt\n@@ -0,0 +1,1 @@\n+made");
  expect(shown).not.toContain("mine.txt");
});

test("a file that a person rewrote since is shown as the prompts left it, and said to be", async () => {
  const { prompt, diff, write } = await open(
    [[call("write", { path: "a.txt", content: "written\n" })], [text("Done.")]],
    { files: { "a.txt": "first\n" }, settings: { tools: { writeNeedsRead: false } } },
  );
  await prompt("go");
  write("a.txt", "mine alone\n");
  const shown = await diff();
  expect(shown).toContain("  a.txt  +1 -1, changed since by others too");
  expect(shown).toContain("-first\n+written");
});

test("what was taken back is not shown, and a session that changed nothing says so", async () => {
  const { prompt, session, diff } = await open([[call("write", { path: "a.txt", content: "a" })], [text("Done.")]]);
  expect(await diff()).toBe("This session has changed no files that are kept.");
  await prompt("go");
  expect(await diff()).toContain("  a.txt  +1 -0, created");
  await session.prompt("/undo --yes");
  expect(await diff()).toBe("This session has changed no files that are kept.");
});

test("during a run its changes so far are shown, and it can be taken back as a whole afterwards", async () => {
  let shown = "";
  const opened = await open([
    [call("write", { path: "a.txt", content: "a\n" })],
    async () => {
      shown = await opened.diff();
      return [call("write", { path: "b.txt", content: "b\n" })];
    },
    [text("Done.")],
  ] as Turns);
  await opened.prompt("go");
  expect(shown).toContain("  a.txt  +1 -0, created");
  expect(await opened.diff()).toContain("This session changed 2 files (1 prompt):");
  await opened.session.prompt("/undo --yes");
  expect(opened.surface.notices.at(-1)).toContain("a.txt (removed), b.txt (removed)");
});

test("a file that is no text is named, and names with line breaks cannot pretend to be rows", async () => {
  const { prompt, diff } = await open([[bash("printf 'a\\0b' > binary; printf x > $'a\\nb'")], [text("Done.")]]);
  await prompt("go");
  const shown = await diff();
  expect(shown).toContain("Create binary\n[not shown: no text, or long]");
  expect(shown).toContain("  a\uFFFDb  +1 -0, created");
});

test("a directory that became a file and back is what it was", async () => {
  const { cwd, prompt, diff } = await open([[bash("rm -r d; echo x > d")], [text("Done.")]], {
    files: { "d/in.txt": "in\n" },
  });
  await prompt("go");
  rmSync(join(cwd, "d"));
  mkdirSync(join(cwd, "d"));
  writeFileSync(join(cwd, "d/in.txt"), "in\n");
  expect(await diff()).toBe("This session has changed no files that are kept.");
});

test("steps of several prompts are joined from the first state to the last", () => {
  const file = (id: string) => ({ kind: "file", id, isExecutable: false }) as const;
  const joined = joinSteps([
    { path: "a", base: file("3"), target: file("2") },
    { path: "b", base: undefined, target: file("x") },
    { path: "a", base: file("2"), target: undefined },
  ]);
  expect(joined).toEqual([
    { path: "a", from: undefined, to: file("3") },
    { path: "b", from: file("x"), to: undefined },
  ]);
});

/** Undo in real sessions: when states are kept, what the commands do, and what is said. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, text } from "@tau/ai/testing";
import { type ExtensionSurface, noUi } from "@tau/extensions";
import { expect, onTestFinished, test } from "vitest";
import { agents, undo } from "../../src/index.ts";
import { createTestSession, type TestSessionParams } from "../kit.ts";
import { copyNaively } from "./kit.ts";

type Turns = Parameters<typeof createTestSession>[0];

/** A person who sees everything, and gives these answers to questions. */
function createSurface(answers: string[]) {
  const shown: string[] = [];
  const questions: { title: string; options: string[] }[] = [];
  const surface: ExtensionSurface = {
    mode: "tui",
    builtIns: { commands: [], keys: new Map() },
    ui: {
      ...noUi,
      notify: (message) => void shown.push(message),
      select: async (title, options) => {
        questions.push({ title, options });
        return answers.shift();
      },
    },
  };
  return { surface, shown, questions };
}

async function open(turns: Turns, answers: string[] = [], params: TestSessionParams = {}) {
  const opened = await createTestSession(turns, { features: [undo()], ...params });
  onTestFinished(() => opened.dispose());
  const seen = createSurface(answers);
  await opened.session.attachSurface(seen.surface);
  const isKept = () => existsSync(join(opened.cwd, "../agent/undo"));
  return { ...opened, ...seen, isKept };
}

const write = (path: string, content: string, id?: string) => call("write", { path, content }, id);
const bash = (command: string) => call("bash", { command });

test("a prompt that only reads keeps nothing, and the first that writes is taken back with its commands", async () => {
  const { cwd, prompt, session, shown, questions, isKept } = await open(
    [
      [call("read", { path: "a.txt" })],
      [text("Read.")],
      [bash("rm a.txt; mkdir sub; echo made > sub/made.txt")],
      [write("written.txt", "written")],
      [text("Done.")],
    ],
    ["Take back the files"],
    { files: { "a.txt": "a\n" } },
  );
  await prompt("look");
  expect(isKept()).toBe(false);
  const before = copyNaively(cwd);
  await prompt("clean up\nand more");
  const after = copyNaively(cwd);
  await session.prompt("/undo");
  expect(copyNaively(cwd)).toEqual(before);
  expect(questions).toEqual([
    {
      title: "Take back: “clean up”\n3 files would be written.",
      options: ["Take back the files", "Take back the files and the conversation", "Leave everything as it is"],
    },
  ]);
  expect(shown[0]).toContain("Create a.txt\n--- a.txt\n+++ a.txt\n@@ -0,0 +1,1 @@\n+a");
  expect(shown[1]).toContain("a.txt (created), sub/made.txt (removed), written.txt (removed)");
  await session.prompt("/redo --yes");
  expect(copyNaively(cwd)).toEqual(after);
  await session.prompt("/redo");
  expect(shown.at(-1)).toBe("There is nothing to do again.");
});

test("nothing is written until the person says so, nor if the files have changed since they were shown", async () => {
  const answers: string[] = [];
  const { cwd, prompt, session, shown } = await open([[write("a.txt", "new")], [text("Done.")]], answers);
  await prompt("go");
  await session.prompt("/undo");
  answers.push("Leave everything as it is");
  await session.prompt("/undo");
  const another = await session.requestUndo({ direction: "undo", apply: true, digest: "of something else" });
  expect(another?.problem).toMatch(/^The files have changed since this was shown/);
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("new");
  writeFileSync(join(cwd, "a.txt"), "mine");
  await session.prompt("/undo --yes");
  expect(shown.at(-1)).toContain("Conflicts, so that nothing is written:\n  a.txt was changed since");
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("mine");
});

test("the conversation goes back with the files if the person wants it, and otherwise the model is told", async () => {
  const answers = ["Take back the files and the conversation"];
  const { cwd, prompt, session, model } = await open(
    [[write("a.txt", "1")], [text("One.")], [write("a.txt", "2", "second")], [text("Two.")], [text("I see.")]],
    answers,
    { settings: { tools: { writeNeedsRead: false } } },
  );
  await prompt("first");
  await prompt("second");
  await session.prompt("/undo");
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("1");
  expect(session.messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult", "assistant"]);
  await session.prompt("/undo --yes");
  expect(existsSync(join(cwd, "a.txt"))).toBe(false);
  await prompt("and now?");
  expect(JSON.stringify(model.asked.at(-1)!.context)).toContain(
    "The user took back what was done to the files: “first”",
  );
});

test("everything up to an entry of the tree is taken back, and done again on the way to another branch", async () => {
  const { cwd, prompt, session } = await open([
    [write("a.txt", "1")],
    [text("One.")],
    [write("b.txt", "2")],
    [text("Two.")],
    [write("c.txt", "3")],
    [text("Three.")],
  ]);
  await prompt("first");
  const { id: first } = (await session.sessionManager.getBranch()).at(-1)!;
  await prompt("second");
  const { id: second } = (await session.sessionManager.getBranch()).at(-1)!;
  await session.prompt(`/undo ${first} --yes`);
  expect([...copyNaively(cwd).keys()]).toEqual(["a.txt"]);
  await session.navigate(first);
  await prompt("other");
  expect([...copyNaively(cwd).keys()]).toEqual(["a.txt", "c.txt"]);
  await session.prompt(`/undo ${second} --yes`);
  expect([...copyNaively(cwd).keys()]).toEqual(["a.txt", "b.txt"]);
  await session.requestUndo({ direction: "undo", entryId: null, apply: true });
  expect([...copyNaively(cwd).keys()]).toEqual([]);
});

test("what a sub-agent does belongs to the prompt of its parent", async () => {
  const { cwd, prompt, session } = await open(
    [
      [call("task", { description: "write", prompt: "Write." })],
      [write("child.txt", "child")],
      [text("Written.")],
      [text("Done.")],
    ],
    [],
    { features: [undo(), agents()] },
  );
  await prompt("delegate");
  expect(existsSync(join(cwd, "child.txt"))).toBe(true);
  await session.prompt("/undo --yes");
  expect(existsSync(join(cwd, "child.txt"))).toBe(false);
});

test("without a person /undo shows what it would do, and a run in progress refuses it", async () => {
  const { cwd, session, prompt } = await createTestSession([[write("a.txt", "a")], [text("Done.")]], {
    features: [undo()],
  }).then((opened) => {
    onTestFinished(() => opened.dispose());
    return opened;
  });
  await prompt("go");
  await session.prompt("/undo");
  expect(existsSync(join(cwd, "a.txt"))).toBe(true);
  await session.prompt("/undo --yes");
  expect(existsSync(join(cwd, "a.txt"))).toBe(false);
});

test("turned off, nothing is kept and there is no /undo", async () => {
  const { prompt, session, isKept } = await open([[write("a.txt", "a")], [text("Done.")]], [], {
    settings: { features: { undo: false } },
  });
  await prompt("go");
  expect(isKept()).toBe(false);
  expect(session.describeExtensionCommands()).toEqual([]);
  expect(await session.requestUndo({ direction: "undo" })).toBeUndefined();
});

test("a state that cannot be kept does not stop the run: it is said once", async () => {
  const { cwd, prompt, shown } = await open([
    [write("a.txt", "a")],
    [text("Done.")],
    [write("b.txt", "b", "second")],
    [text("Done.")],
  ]);
  mkdirSync(join(cwd, "../agent"), { recursive: true });
  writeFileSync(join(cwd, "../agent/undo"), "in the way");
  await prompt("go");
  await prompt("on");
  expect(readdirSync(cwd).toSorted()).toEqual(["a.txt", "b.txt"]);
  expect(shown).toEqual([expect.stringMatching(/^What this prompt does cannot be taken back with \/undo: /)]);
});

/** The feature `todo` in real sessions. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call, text } from "@tau/ai/testing";
import { SessionManager } from "@tau/harness";
import { expect, onTestFinished, test } from "vitest";
import { todo } from "../src/index.ts";
import { createTestSession, SurfaceUi } from "./kit.ts";

type Status = "pending" | "in_progress" | "completed";
const write = (...items: [string, Status][]) =>
  call("todo", { todos: items.map(([content, status]) => ({ content, status })) });

type Params = NonNullable<Parameters<typeof createTestSession>[1]>;

async function open(turns: Parameters<typeof createTestSession>[0], params: Params = {}) {
  const opened = await createTestSession(turns, { features: [todo()], ...params });
  onTestFinished(() => opened.dispose());
  const surface = new SurfaceUi();
  await opened.session.attachSurface(surface);
  return { ...opened, surface };
}

test("the list is shown during the run, folded afterwards, and gone when all is done", async () => {
  const turns = [
    [write(["one", "in_progress"], ["two", "pending"])],
    [text("Later.")],
    [write(["one", "completed"], ["two", "completed"])],
    [text("Done.")],
  ];
  const { prompt, surface } = await open(turns);
  await prompt("go");
  expect(surface.shown("todo")).toEqual([["[>] one", "[ ] two"], ["0 of 2 done · next: one"]]);
  await prompt("on");
  expect(surface.shown("todo").slice(2)).toEqual([["[>] one", "[ ] two"], ["[x] one", "[x] two"], undefined]);
});

test("a list that is not valid is refused with the reason, and the one before stays", async () => {
  const wrong = call("todo", { todos: [{ content: "", status: "pending" }] });
  const { prompt, session, surface } = await open([[write(["one", "pending"])], [wrong], [text("Done.")]]);
  await prompt("go");
  const results = session.messages.flatMap((message) => (message.role === "toolResult" ? [message] : []));
  expect(results.map(({ isError }) => isError)).toEqual([false, true]);
  expect(JSON.stringify(results[1]!.content)).toContain("`content` is empty");
  expect(surface.shown("todo").at(-1)).toEqual(["0 of 1 done · next: one"]);
});

test("the list follows the branch", async () => {
  const opened = await open([
    [write(["one", "pending"])],
    [text("First.")],
    [write(["two", "pending"])],
    [text("Second.")],
  ]);
  const { prompt, session, surface } = opened;
  await prompt("go");
  const leaf = session.sessionManager.getLeafId();
  await prompt("on");
  expect(surface.shown("todo").at(-1)).toEqual(["0 of 1 done · next: two"]);
  await session.navigate(leaf, {});
  expect(surface.shown("todo").at(-1)).toEqual(["0 of 1 done · next: one"]);
  await session.navigate(null, {});
  expect(surface.shown("todo").at(-1)).toBeUndefined();
});

test.each([
  ["without other extensions", {}],
  ["with another extension", { extensions: { factories: [() => {}] } }],
] satisfies [string, Params][])("moving to a branch with a list shows it, %s", async (_name, params) => {
  const directory = await mkdtemp(join(tmpdir(), "tau-todo-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const sessionManager = await SessionManager.create(directory, directory);
  const turns = [[write(["one", "pending"])], [text("Later.")], [text("Other.")]];
  const first = await createTestSession(turns, { features: [todo()], sessionManager });
  await first.prompt("go");
  const leaf = sessionManager.getLeafId();
  await first.session.navigate(null, {});
  await first.prompt("something else");
  const path = sessionManager.getSessionFile()!;
  await first.dispose();
  const { session, surface, prompt } = await open([[text("Continued.")]], {
    ...params,
    sessionManager: SessionManager.open(path),
  });
  expect(surface.shown("todo")).toEqual([]);
  await session.navigate(leaf, {});
  expect(surface.shown("todo")).toEqual([["0 of 1 done · next: one"]]);
  await prompt("continue");
  expect(surface.shown("todo").at(-1)).toEqual(["0 of 1 done · next: one"]);
});

test("a session that is opened again has its list, without a call", async () => {
  const directory = await mkdtemp(join(tmpdir(), "tau-todo-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const sessionManager = await SessionManager.create(directory, directory);
  const first = await createTestSession([[write(["one", "pending"])], [text("Later.")]], {
    features: [todo()],
    sessionManager,
  });
  await first.prompt("go");
  const path = sessionManager.getSessionFile()!;
  await first.dispose();
  const { surface } = await open([], { sessionManager: SessionManager.open(path) });
  expect(surface.shown("todo")).toEqual([["0 of 1 done · next: one"]]);
});

test("after a compaction the model is told the list again, unless it is done", async () => {
  const long = "word ".repeat(3_000);
  const settings = { compaction: { keepRecentTokens: 100, reserveTokens: 100 } };
  const turns = [[write(["one", "pending"])], [text(long)], [text("The summary.")], [text("Well.")]];
  const { prompt, session, model } = await open(turns, { settings });
  await prompt("go");
  expect((await session.compact()).kind).toBe("compacted");
  await prompt("on");
  const sent = JSON.stringify(model.asked.at(-1));
  expect(sent).toContain("Your to-do list, from before the summary:\\n[ ] one");
});

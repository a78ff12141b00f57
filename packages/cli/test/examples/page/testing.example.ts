import { join } from "node:path";
import { noUi } from "@tau/extensions";
import { call, createTestSession, text } from "@tau/harness/testing";
import { expect, onTestFinished, test } from "vitest";
import guard from "./guard.example.ts";

test("curl is blocked, and the model is told what to use", async () => {
  const agent = await createTestSession([[call("bash", { command: "curl example.com" })], [text("I see.")]], {
    extensions: { factories: [guard] },
  });
  onTestFinished(() => agent.dispose());
  await agent.prompt("Get the page.");
  expect(agent.transcript().join("\n")).toContain("Use the tool fetch, not curl.");
});

test("the file is loaded as tau loads it, and its command answers", async () => {
  const agent = await createTestSession([], {
    extensions: { paths: [join(import.meta.dirname, "smallest.example.ts")], flags: new Map() },
  });
  onTestFinished(() => agent.dispose());
  const notes: string[] = [];
  const ui = { ...noUi, notify: (message: string) => void notes.push(message) };
  await agent.session.attachSurface({ mode: "tui", ui });
  expect(await agent.session.submit("/hello tests")).toEqual({ disposition: "handled" });
  expect(notes).toEqual(["Hello tests!"]);
});

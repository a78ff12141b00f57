/** Extensions that ask before they do something for a model. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createFakeClock } from "@tau/ai/testing";
import type { ExtensionAPI } from "@tau/extensions";
import type { Question } from "@tau/policy";
import { expect, test, vi } from "vitest";
import { type DeskOptions, openDesk, temporaryDirectory } from "../agent-session/desk.ts";

async function open(params: DeskOptions = {}) {
  let api!: ExtensionAPI;
  const questions: Question[] = [];
  const desk = await openDesk([], {
    ask: async (question) => {
      questions.push(question);
      return { decision: questions.length > 1 ? "deny" : "allow" };
    },
    ...params,
    extensions: { factories: [(tau) => void (api = tau)] },
  });
  const request = (...paths: string[]) =>
    api.requestAccess(
      paths.map((path) => ({ capability: "write", target: { kind: "path", path: join(desk.directory, path) } })),
      { name: "task", summary: "Apply changes" },
    );
  return { ...desk, questions, request };
}

test("an extension knows how long a person was waited for", async () => {
  let api!: ExtensionAPI;
  const clock = createFakeClock();
  const { directory } = await openDesk([], {
    clock,
    ask: async () => {
      await clock.advance(5_000);
      return { decision: "deny" };
    },
    extensions: { factories: [(tau) => void (api = tau)] },
  });
  expect(api.getPersonWaitMs()).toBe(0);
  const path = join(directory, ".vscode/tasks.json");
  await api.requestAccess([{ capability: "write", target: { kind: "path", path } }], {
    name: "task",
    summary: "Write",
  });
  expect(api.getPersonWaitMs()).toBe(5_000);
});

test("what the session may do is allowed, and nobody is asked", async () => {
  const { request, questions } = await open();
  expect(await request("a.txt", "b/c.txt")).toEqual({ kind: "allowed" });
  expect(questions).toEqual([]);
});

test("a protected name is asked about with the summary, each time, and the answer decides", async () => {
  const { request, questions } = await open();
  expect(await request("a.txt", ".vscode/tasks.json")).toEqual({ kind: "allowed" });
  expect(questions.map(({ summary }) => summary)).toEqual([expect.stringContaining("Apply changes")]);
  expect(await request(".vscode/tasks.json")).toMatchObject({ kind: "denied", reason: expect.any(String) as string });
  expect(questions).toHaveLength(2);
});

test("where nobody answers, what would be asked is denied", async () => {
  const root = await temporaryDirectory();
  await Promise.all(["home", "tmp"].map((name) => mkdir(join(root, name))));
  vi.stubEnv("TMPDIR", join(root, "tmp"));
  const { request, events } = await open({
    cwd: join(root, "home"),
    agentDir: join(root, "agent"),
    ask: undefined as never,
  });
  vi.unstubAllEnvs();
  expect(await request("a.txt", "../outside.txt")).toMatchObject({ kind: "denied" });
  expect(events.map(({ type }) => type)).toContain("tool_denied");
});

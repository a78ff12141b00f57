/** `before_files_change` in real sessions: which calls wait for it, and whose extensions it is for. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { call, text } from "@tau/ai/testing";
import { Type } from "typebox";
import { expect, onTestFinished, test } from "vitest";
import type { ExtensionFactory, Feature } from "@tau/extensions";
import { createTestSession, type TestSessionParams } from "../../src/testing/index.ts";
import type { TestTurn } from "../../src/testing/script.ts";

async function open(turns: readonly TestTurn[], params: TestSessionParams) {
  const opened = await createTestSession(turns, params);
  onTestFinished(() => opened.dispose());
  return opened;
}

test("calls that may write or execute wait for it, and those that read or were denied have none", async () => {
  const seen: unknown[] = [];
  const factory: ExtensionFactory = (tau) => {
    const tool = { label: "", description: "", parameters: Type.Object({}) };
    const execute = async () => ({ content: [text("done")], details: {} });
    tau.registerTool({ ...tool, name: "unknown_tool", execute });
    tau.registerTool({ ...tool, name: "known_tool", readOnly: true, execute });
    tau.on("tool_call", ({ input }) => ({ block: input["path"] === "denied.txt" }));
    tau.on("before_files_change", async ({ toolName, toolCallId }, { cwd }) => {
      await new Promise((resolve) => setImmediate(resolve));
      seen.push([toolName, toolCallId, existsSync(join(cwd, "b.txt"))]);
      if (toolName === "bash") throw new Error("No luck.");
    });
  };
  const opened = await open(
    [
      [call("read", { path: "a.txt" }), call("write", { path: "denied.txt", content: "no" })],
      [call("write", { path: "b.txt", content: "b" }, "call-1")],
      [call("bash", { command: "echo c > c.txt" }, "call-2")],
      [call("known_tool", {}), call("unknown_tool", {}, "call-3")],
      [text("Done.")],
    ],
    { files: { "a.txt": "a" }, extensions: { factories: [factory] } },
  );
  await opened.prompt("go");
  expect(seen).toEqual([
    ["write", "call-1", false],
    ["bash", "call-2", true],
    ["unknown_tool", "call-3", true],
  ]);
  expect(existsSync(join(opened.cwd, "c.txt"))).toBe(true);
});

test("it loads the features that work before changes, and no call before that does", async () => {
  const seen: string[] = [];
  const feature: Feature = {
    name: "watcher",
    summary: "Watches.",
    loadsBeforeChanges: () => true,
    load: async () => {
      seen.push("loaded");
      return (tau) => void tau.on("before_files_change", ({ toolName }) => void seen.push(toolName));
    },
  };
  const opened = await open(
    [[call("ls", {})], [text("Looked.")], [call("write", { path: "a.txt", content: "a" })], [text("Written.")]],
    { features: [feature] },
  );
  await opened.prompt("look");
  expect(seen).toEqual([]);
  await opened.prompt("write");
  expect(seen).toEqual(["loaded", "write"]);
});

test("calls of a child are reported to the session that it works for", async () => {
  const seen: string[] = [];
  const feature: Feature = {
    name: "delegator",
    summary: "Delegates.",
    loadsBeforeChanges: () => true,
    commands: [{ name: "delegate", description: "Delegates" }],
    load: async () => (tau) => {
      tau.registerCommand("delegate", {
        handler: async () => {
          const child = await tau.openChild({ name: "worker" });
          await child.prompt("write");
          await child.close();
        },
      });
      tau.on("before_files_change", ({ toolName }, { sessionManager }) => {
        seen.push(`${toolName} ${sessionManager.getSessionId()}`);
      });
    },
  };
  const opened = await open([[call("write", { path: "a.txt", content: "a" })], [text("Done.")]], {
    features: [feature],
  });
  await opened.prompt("/delegate");
  expect(seen).toEqual([`write ${opened.session.sessionId}`]);
});

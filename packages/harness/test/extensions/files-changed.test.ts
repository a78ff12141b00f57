/** `files_changed` in real sessions: which calls it follows, and what its answers do. */
import { join } from "node:path";
import { call, text } from "@tau/ai/testing";
import { Type } from "typebox";
import { expect, onTestFinished, test } from "vitest";
import type { ExtensionEvent, ExtensionFactory } from "@tau/extensions";
import { createTestSession, type TestSessionParams } from "../../src/testing/index.ts";
import type { TestTurn } from "../../src/testing/script.ts";

async function open(turns: readonly TestTurn[], factory: ExtensionFactory, params: TestSessionParams = {}) {
  const opened = await createTestSession(turns, { ...params, extensions: { factories: [factory] } });
  onTestFinished(() => opened.dispose());
  return opened;
}

const getResults = ({ session }: Awaited<ReturnType<typeof open>>) =>
  session.messages.flatMap((message) => (message.role === "toolResult" ? [message.content] : []));

test("calls that changed files are followed by it, those that only read or failed are not", async () => {
  const seen: ExtensionEvent<"files_changed">[] = [];
  const edit = { path: "missing.txt", edits: [{ oldText: "a", newText: "b" }] };
  const opened = await open(
    [
      [call("read", { path: "a.txt" })],
      [call("edit", edit)],
      [call("write", { path: "sub/b.txt", content: "b" }, "call-1")],
      [call("bash", { command: "echo c > c.txt" })],
      [text("Done.")],
    ],
    (tau) => void tau.on("files_changed", (event) => void seen.push(event)),
    { files: { "a.txt": "a" } },
  );
  await opened.prompt("go");
  const paths = [join(opened.session.cwd, "sub/b.txt")];
  expect(seen).toEqual([{ type: "files_changed", paths, toolCallId: "call-1", toolName: "write" }]);
});

test("what handlers answer with is added in order, before tool_result handlers see it", async () => {
  const reviewed: unknown[] = [];
  const opened = await open([[call("write", { path: "a.txt", content: "a" })], [text("Done.")]], (tau) => {
    tau.on("files_changed", async () => ({ content: [text("First.")] }));
    tau.on("files_changed", () => {
      throw new Error("No luck.");
    });
    tau.on("files_changed", () => ({ content: [text("Second.")] }));
    tau.on("tool_result", ({ content }) => {
      reviewed.push(content.at(-1));
      return undefined;
    });
  });
  await opened.prompt("go");
  expect(getResults(opened)[0]!.slice(1)).toEqual([text("First."), text("Second.")]);
  expect(reviewed).toEqual([text("Second.")]);
});

test("a tool of an extension names the files that it changes, also in a call that another tool makes", async () => {
  const seen: unknown[] = [];
  const opened = await open([[call("outer", {}, "call-1")], [text("Done.")]], (tau) => {
    const tool = { label: "", description: "", parameters: Type.Object({}) };
    const result = { content: [text("done")], details: {} };
    tau.registerTool({
      ...tool,
      name: "outer",
      execute: async (_id, _args, _signal, _update, context) => {
        await context.executeTool("inner", {});
        return result;
      },
    });
    tau.registerTool({
      ...tool,
      name: "inner",
      touches: () => ({ read: [], modified: ["x.txt", "./x.txt"] }),
      execute: async () => result,
    });
    tau.on("files_changed", ({ paths, parentToolCallId }) => void seen.push({ paths, parentToolCallId }));
  });
  await opened.prompt("go");
  expect(seen).toEqual([{ paths: [join(opened.session.cwd, "x.txt")], parentToolCallId: "call-1" }]);
});

test("a handler that takes too long is reported, and the call goes on", async () => {
  const opened = await open([[call("write", { path: "a.txt", content: "a" })], [text("Done.")]], (tau) => {
    tau.on("files_changed", () => {
      // The limit of handlers, by the session's clock.
      setImmediate(() => opened.clock.advance(10_000));
      return new Promise(() => {});
    });
  });
  await opened.prompt("go");
  expect(getResults(opened)[0]).toHaveLength(1);
  expect(opened.events).toContainEqual(
    expect.objectContaining({
      type: "notice",
      message: expect.stringContaining("files_changed failed: it took more than"),
    }),
  );
});

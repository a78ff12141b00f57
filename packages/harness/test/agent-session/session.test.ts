import { call, text } from "@tau/ai/testing";
import { expect, test } from "vitest";
import { SessionManager } from "../../src/session/session-manager.ts";
import { openDesk, sayTool, getTypes } from "./desk.ts";

test("a prompt becomes a run: its events, its outcome, and its entries in the log", async () => {
  const { session, events, model } = await openDesk([[text("Looking."), call("look", {}, "c1")], [text("Done.")]], {
    customTools: [sayTool("look", "a wall")],
  });
  const outcome = await session.prompt("Look around.");
  expect(outcome).toMatchObject({ kind: "ran", terminationReason: "no_tool_calls" });
  expect(getTypes(events.filter(({ type }) => type !== "text_delta" && type !== "toolcall_delta"))).toEqual([
    "entry_appended",
    "model_changed",
    "entry_appended",
    "agent_start",
    "entry_appended",
    "turn_start",
    "entry_appended",
    "message_start",
    "entry_appended",
    "message_end",
    "tool_execution_start",
    "entry_appended",
    "tool_execution_end",
    "entry_appended",
    "turn_end",
    "turn_start",
    "message_start",
    "entry_appended",
    "message_end",
    "turn_end",
    "agent_end",
  ]);
  expect(session.messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult", "assistant"]);
  const { messages } = await session.sessionManager.buildContext();
  expect(messages).toEqual(session.messages);
  expect(model.asked).toHaveLength(2);
});

test("the transcript is the messages with the ids of their entries, now and after the session is opened again", async () => {
  const { session, directory } = await openDesk([[text("One.")], [text("Two.")]]);
  await session.prompt("First?");
  await session.prompt("Second?");
  const entries = (await session.sessionManager.getEntries()).filter(({ type }) => type === "message");
  const ids = entries.map(({ id }) => id);
  expect(session.transcript.map(({ id }) => id)).toEqual(ids);
  expect(session.transcript.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  expect(session.messages[0]).not.toHaveProperty("id");
  const sessionManager = await SessionManager.open(session.sessionFile!, { access: "read" });
  const again = await openDesk([], { cwd: directory, sessionManager });
  expect(again.session.transcript.map(({ id }) => id)).toEqual(ids);
});

import { call, createTestSession, text, transcript } from "@tau/harness/testing";
import { expect, onTestFinished, test } from "vitest";

test("the agent reads the list before it answers", async () => {
  const agent = await createTestSession(
    [
      [text("Let me see."), call("read", { path: "list.txt" })],
      { failure: { kind: "overloaded", message: "Busy." } },
      { asked: [/^call read/, "result read: milk"], answer: [text("Milk.")] },
    ],
    { files: { "list.txt": "milk" } },
  );
  onTestFinished(() => agent.dispose());
  await agent.prompt("What do we need?");
  expect(agent.transcript().join("\n")).toMatchInlineSnapshot(`
    "user: What do we need?
    assistant: Let me see.
    call read {"path":"list.txt"}
    result read: milk
    failed overloaded: Busy.
    retry 1 of 3 after 2000 ms: Busy.
    assistant: Milk.
    end: no_tool_calls"
  `);
  expect(transcript(agent.session).at(-1)).toBe("assistant: Milk.");
  expect(agent.model.left).toBe(0);
});

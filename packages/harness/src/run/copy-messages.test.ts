import type { AgentMessage } from "@tau/agent";
import { expect, test } from "vitest";
import { copyMessages } from "./copy-messages.ts";

const createResult = (details: unknown): AgentMessage => ({
  role: "toolResult",
  toolCallId: "1",
  toolName: "odd",
  content: [{ type: "text", text: "fine" }],
  details,
  isError: false,
  timestamp: 0,
});

test("details that cannot be copied are shared, and everything else is copied", () => {
  const messages = [createResult({ render: () => "text" }), createResult({ lines: [1] })];
  const copies = copyMessages(messages);
  expect(copies).toEqual(messages);
  for (const [index, copy] of copies.entries()) {
    expect(copy).not.toBe(messages[index]);
    expect((copy as { content: unknown }).content).not.toBe((messages[index] as { content: unknown }).content);
  }
  expect((copies[0] as { details: unknown }).details).toBe((messages[0] as { details: unknown }).details);
  expect((copies[1] as { details: unknown }).details).not.toBe((messages[1] as { details: unknown }).details);
});

import { expect, test } from "vitest";
import type { Message } from "../message.ts";
import type { Model } from "../model.ts";
import { providerHeaders } from "./provider-headers.ts";

const model = (provider: string) => ({ provider }) as Model;
const question: Message = { role: "user", content: "q", timestamp: 0 };
const result: Message = {
  role: "toolResult",
  toolCallId: "a",
  toolName: "camera",
  content: [{ type: "image", data: "AAAA", mimeType: "image/png" }],
  isError: false,
  timestamp: 0,
};

test("most providers ask for nothing", () => {
  expect(providerHeaders(model("openai"), { messages: [question] })).toEqual({});
  expect(providerHeaders(model("somebody's own"), { messages: [question] })).toEqual({});
});

test("one that bills by who asks is told who asks", () => {
  const asked = providerHeaders(model("github-copilot"), { messages: [question] });
  expect(asked).toMatchObject({ "x-initiator": "user", "copilot-integration-id": "vscode-chat" });
  expect(asked).not.toHaveProperty("copilot-vision-request");
  expect(providerHeaders(model("github-copilot"), { messages: [question, result] })).toMatchObject({
    "x-initiator": "agent",
    "copilot-vision-request": "true",
  });
});

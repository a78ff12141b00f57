import { expect, test } from "vitest";
import type { Message } from "../message.ts";
import type { Model } from "../model.ts";
import { getProviderHeaders } from "./provider-headers.ts";

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

test("most providers need no extra headers", () => {
  expect(getProviderHeaders(model("openai"), { messages: [question] })).toEqual({});
  expect(getProviderHeaders(model("unknown"), { messages: [question] })).toEqual({});
});

test("a provider that bills by initiator gets the initiator", () => {
  const headers = getProviderHeaders(model("github-copilot"), { messages: [question] });
  expect(headers).toMatchObject({ "x-initiator": "user", "copilot-integration-id": "vscode-chat" });
  expect(headers).not.toHaveProperty("copilot-vision-request");
  expect(getProviderHeaders(model("github-copilot"), { messages: [question, result] })).toMatchObject({
    "x-initiator": "agent",
    "copilot-vision-request": "true",
  });
});

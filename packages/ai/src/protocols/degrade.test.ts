import { expect, test } from "vitest";
import { degrade } from "./degrade.ts";

const anthropic = () => ({
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "a" },
        { type: "image", source: {} },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "thinking", signature: "bad" },
        { type: "tool_use", id: "t" },
      ],
    },
    {
      role: "user",
      content: [
        {
          type: "tool_result",
          content: [
            { type: "text", text: "x" },
            { type: "image", source: {} },
          ],
        },
      ],
    },
  ],
  tools: [{ name: "a" }, { name: "b" }],
});

test.each([
  ["messages.0.content.1.image.source.base64: Could not process image", "messages.0.content.1", /image/],
  ["HTTP 400: messages.1.content.0: Invalid `signature` in `thinking` block", "messages.1.content.0", /thinking/],
  [
    "messages.2.content.0.tool_result.content.1.image.source: too big",
    "messages.2.content.0.tool_result.content.1",
    /image/,
  ],
  ["tools.1.custom.input_schema: JSON schema is invalid", "tools.1", /tool/],
])("%s removes only the part it names", (errorMessage, path, description) => {
  const payload = anthropic();
  const degraded = degrade(payload, errorMessage);
  expect(degraded?.path.startsWith(path)).toBe(true);
  expect(degraded?.description).toMatch(description);
  expect(payload).toEqual(anthropic());
  expect(JSON.stringify(degraded?.payload)).not.toBe(JSON.stringify(payload));
});

test("an image becomes a text block in the format of its API", () => {
  const chat = { messages: [{ role: "user", content: [{ type: "image_url", image_url: {} }] }] };
  expect(degrade(chat, "Invalid 'messages[0].content[0].image_url.url'.")?.payload).toMatchObject({
    messages: [{ content: [{ type: "text", text: expect.stringContaining("image") }] }],
  });
  const responses = { input: [{ role: "user", content: [{ type: "input_image" }] }] };
  expect(degrade(responses, "Invalid 'input[0].content[0].image_url'")?.payload).toMatchObject({
    input: [{ content: [{ type: "input_text" }] }],
  });
  const gemini = { contents: [{ role: "user", parts: [{ inlineData: {} }] }] };
  expect(
    degrade(gemini, "Invalid value at 'contents[0].parts[0].inline_data.data' (TYPE_BYTES)")?.payload,
  ).toMatchObject({
    contents: [{ parts: [{ text: expect.stringContaining("image") }] }],
  });
});

test("a tool in Gemini's nested list is found although the error message uses snake case", () => {
  const payload = { tools: [{ functionDeclarations: [{ name: "a" }, { name: "b" }] }] };
  const degraded = degrade(payload, "GenerateContentRequest.tools[0].function_declarations[1].parameters: bad");
  expect(degraded?.payload).toEqual({ tools: [{ functionDeclarations: [{ name: "a" }] }] });
});

test.each([
  "Something is wrong",
  "messages.0.content.0: text is bad",
  "messages.7.content.0: there is no such message",
  "messages.1.content.1: a tool_use cannot be removed",
  "messages: at least one message is required",
])("%s removes nothing", (errorMessage) => {
  expect(degrade(anthropic(), errorMessage)).toBeUndefined();
});

test("with the only tool, the tool choice is removed too", () => {
  const payload = { tools: [{ name: "a" }], tool_choice: { type: "any" }, messages: [] };
  expect(degrade(payload, "tools.0.custom.input_schema: bad")?.payload).toEqual({ messages: [] });
});

test("a message with only thinking keeps a text block", () => {
  const payload = { messages: [{ role: "assistant", content: [{ type: "thinking", signature: "stale" }] }] };
  expect(degrade(payload, "messages.0.content.0: Invalid signature")?.payload).toMatchObject({
    messages: [{ content: [{ type: "text" }] }],
  });
});

test("all blocks of a kind are removed at any depth if requested", () => {
  const degraded = degrade(anthropic(), "messages.0.content.1.image.source: bad", (kind) => kind === "image");
  expect(degraded?.kind).toBe("image");
  expect(JSON.stringify(degraded?.payload)).not.toContain('"image"');
  expect(JSON.stringify(degraded?.payload)).toContain('"thinking"');
});

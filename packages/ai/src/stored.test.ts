import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { handOff, toPlainId } from "./handoff.ts";
import type { Message } from "./message.ts";
import type { Model } from "./model.ts";
import { readStoredMessage } from "./stored.ts";

const read = (stored: unknown) => readStoredMessage(stored, 0);

describe("readStoredMessage", () => {
  test.each([[null], [undefined], [7], ["text"], [[]], [{}], [{ role: "system", content: "x" }]])(
    "%j is not a message",
    (stored) => {
      expect(read(stored)).toBeUndefined();
    },
  );

  test.each([
    [{ role: "user", content: null }, []],
    [{ role: "user", content: "hi" }, [{ type: "text", text: "hi" }]],
    [{ role: "user", content: [{ type: "text", text: null }, { type: "hologram" }, null, 3] }, []],
    [{ role: "user", content: [{ type: "image" }] }, [{ type: "image", data: "", mimeType: "" }]],
    [{ role: "toolResult", content: "plain" }, [{ type: "text", text: "plain" }]],
    [{ role: "toolResult" }, []],
    [{ role: "assistant", content: "hello" }, [{ type: "text", text: "hello" }]],
    [{ role: "assistant", content: [{ type: "thinking" }] }, [{ type: "thinking", thinking: "" }]],
    [{ role: "assistant", content: [{ type: "unknown", name: "x" }] }, []],
  ])("of %j only the valid blocks are kept", (stored, content) => {
    expect(read(stored)?.content).toEqual(content);
  });

  test.each([
    [{ a: 1 }, { a: 1 }],
    ['{"a":1}', { a: 1 }],
    ["not json", {}],
    ["[1]", {}],
    [null, {}],
    [undefined, {}],
    [[1], {}],
    [JSON.parse(`{"a":${"[".repeat(20_000)}${"]".repeat(20_000)}}`), {}],
  ])("arguments that are an object are kept, and JSON text is parsed (%#)", (args, expected) => {
    const message = read({ role: "assistant", content: [{ type: "toolCall", id: "c", name: "n", arguments: args }] });
    expect(message?.content).toEqual([{ type: "toolCall", id: "c", name: "n", arguments: expected }]);
  });

  test("a call without an id gets the same generated id every time", () => {
    const stored = { role: "assistant", content: [{ type: "toolCall", name: "n", arguments: {} }] };
    const [block] = read(stored)!.content as { id: string }[];
    expect(block!.id).toMatch(/^call_[a-z0-9]{13}$/);
    expect(read(stored)).toEqual(read(stored));
  });
});

const model = { id: "m", provider: "p", api: "a", input: ["text"] } as Model;
const rules = {
  toolCallId: (id: string) => toPlainId(id, 64),
  imageTypes: [],
  maxImageCharacters: 0,
  userFirst: true,
  userLast: true,
};

test("any stored history can be prepared for a model", () => {
  const anything = fc.array(
    fc.oneof(
      fc.jsonValue({ maxDepth: 4 }),
      fc.record({
        role: fc.constantFrom("user", "assistant", "toolResult", "other"),
        content: fc.oneof(
          fc.jsonValue({ maxDepth: 2 }),
          fc.array(
            fc.record(
              {
                type: fc.constantFrom("text", "thinking", "toolCall", "image", "x"),
                text: fc.jsonValue({ maxDepth: 1 }),
                thinking: fc.jsonValue({ maxDepth: 1 }),
                id: fc.jsonValue({ maxDepth: 1 }),
                name: fc.jsonValue({ maxDepth: 1 }),
                arguments: fc.jsonValue({ maxDepth: 2 }),
                data: fc.jsonValue({ maxDepth: 1 }),
              },
              { requiredKeys: ["type"] },
            ),
          ),
        ),
        toolCallId: fc.jsonValue({ maxDepth: 1 }),
      }),
    ),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(anything, (messages) => {
      const prepared = handOff(messages as unknown as Message[], model, rules);
      expect(prepared[0]?.role ?? "user").toBe("user");
      expect(prepared.at(-1)?.role).not.toBe("assistant");
      for (const message of prepared) {
        for (const block of message.content) {
          if (block.type !== "toolCall") continue;
          expect(block.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
          expect(typeof block.arguments).toBe("object");
        }
      }
    }),
    { numRuns: 500 },
  );
});

test("a tool name that providers would reject is rewritten in the call and in its result", () => {
  const messages = ["functions.read:0 x", "", "x".repeat(200)].map((name) => ({
    role: "assistant",
    content: [{ type: "toolCall", id: "c", name, arguments: {} }],
    stopReason: "toolUse",
  }));
  const prepared = handOff(messages as unknown as Message[], model, rules);
  const names = prepared.flatMap((message) =>
    message.role === "toolResult"
      ? [message.toolName]
      : message.content.flatMap((block) => (block.type === "toolCall" ? [block.name] : [])),
  );
  expect(names).toHaveLength(6);
  for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  expect(names[2]).toBe("unknown_tool");
});

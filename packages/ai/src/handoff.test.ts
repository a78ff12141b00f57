import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { handOff, type HandoffRules, missingResultText, toPlainId, type PreparedMessage } from "./handoff.ts";
import { toShortHash } from "./hash.ts";
import type { AssistantMessage, Message, ToolResultMessage } from "./message.ts";
import type { Model } from "./model.ts";
import { emptyUsage } from "./usage.ts";

const target: Model = {
  id: "target",
  name: "Target",
  api: "anthropic-messages",
  provider: "anthropic",
  baseUrl: "",
  reasoning: true,
  input: ["text", "image"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 1_000,
  maxTokens: 100,
};

const rules: HandoffRules = {
  toolCallId: (id) => toPlainId(id, 20),
  imageTypes: ["image/png"],
  maxImageCharacters: 100,
  userFirst: true,
};

const assistant = (content: AssistantMessage["content"], extra: Partial<AssistantMessage> = {}): AssistantMessage => ({
  role: "assistant",
  content,
  api: target.api,
  provider: target.provider,
  model: target.id,
  usage: emptyUsage(),
  stopReason: "stop",
  timestamp: 1,
  ...extra,
});

const call = (id: string, name = "tool", args: Record<string, unknown> = {}) =>
  ({ type: "toolCall", id, name, arguments: args }) as const;
const text = (content: string) => ({ type: "text", text: content }) as const;
const user = (content: string): Message => ({ role: "user", content, timestamp: 0 });
const result = (toolCallId: string, content = "ok"): ToolResultMessage => ({
  role: "toolResult",
  toolCallId,
  toolName: "tool",
  content: [text(content)],
  isError: false,
  timestamp: 2,
});

/** Formats a line for each message. */
const transcript = (messages: readonly PreparedMessage[]) =>
  messages.map((message) => {
    if (message.role === "toolResult") return `result ${message.toolCallId}: ${show(message.content)}`;
    return `${message.role}: ${show(message.content)}`;
  });

const show = (content: PreparedMessage["content"]) =>
  content
    .map((block) => {
      if (block.type === "text") return block.text;
      if (block.type === "thinking") return `(thinks ${block.thinking})`;
      return block.type === "image" ? "(image)" : `call ${block.id}`;
    })
    .join(" + ");

const prepare = (messages: Message[], model = target) => transcript(handOff(messages, model, rules));

describe("calls and results", () => {
  test("results come right after their calls, in the order of the calls", () => {
    expect(
      prepare([user("go"), assistant([call("a"), call("b")]), user("wait"), result("b", "B"), result("a", "A")]),
    ).toEqual(["user: go", "assistant: call a + call b", "result a: A", "result b: B", "user: wait"]);
  });

  test("a call without a result gets one that says that there is none", () => {
    expect(prepare([user("go"), assistant([call("a")]), user("well?")])).toEqual([
      "user: go",
      "assistant: call a",
      `result a: ${missingResultText}`,
      "user: well?",
    ]);
  });

  test("a result without a call is dropped, and so is a second result", () => {
    expect(prepare([result("x"), user("go"), assistant([call("a")]), result("a", "1"), result("a", "2")])).toEqual([
      "user: go",
      "assistant: call a",
      "result a: 1",
    ]);
  });

  test("an id that is used twice becomes two ids, each with its own result", () => {
    const [, , first, , second] = handOff(
      [user("go"), assistant([call("a")]), result("a", "1"), assistant([call("a")]), result("a", "2")],
      target,
      rules,
    );
    expect(first).toMatchObject({ content: [{ text: "1" }] });
    expect(second).toMatchObject({ content: [{ text: "2" }] });
    expect((first as ToolResultMessage).toolCallId).not.toBe((second as ToolResultMessage).toolCallId);
  });

  test("ids of another provider are rewritten the same way every time", () => {
    const long = "call_with|a/very:long.identifier_that_goes_on";
    const first = prepare([user("go"), assistant([call(long)]), result(long)]);
    expect(first[1]).toMatch(/^assistant: call [a-zA-Z0-9_-]{1,20}$/);
    expect(prepare([user("go"), assistant([call(long)]), result(long)])).toEqual(first);
  });
});

describe("messages of another model", () => {
  const foreign = { provider: "other" };

  test("readable thinking becomes text", () => {
    const content = [
      { type: "thinking", thinking: "Hm.", thinkingSignature: "s" },
      { type: "thinking", thinking: "", thinkingSignature: "opaque", redacted: true },
      text("Yes."),
    ] satisfies AssistantMessage["content"];
    expect(prepare([user("q"), assistant(content, foreign)])).toEqual(["user: q", "assistant: Hm. + Yes."]);
    expect(prepare([user("q"), assistant(content)])[1]).toBe("assistant: (thinks Hm.) + (thinks ) + Yes.");
  });

  test("signatures are removed", () => {
    const content = [
      { type: "text", text: "a", textSignature: "t" },
      { ...call("c"), thoughtSignature: "u" },
    ] satisfies AssistantMessage["content"];
    const sent = JSON.stringify(handOff([user("q"), assistant(content, foreign)], target, rules));
    expect(sent).not.toContain("Signature");
    expect(JSON.stringify(handOff([user("q"), assistant(content)], target, rules))).toContain("thoughtSignature");
  });
});

describe("incomplete answers", () => {
  test("an aborted answer keeps its text and loses its incomplete call and its unsigned thinking", () => {
    const content = [
      { type: "thinking", thinking: "Hm" },
      text("I was sayi"),
      call("a"),
    ] satisfies AssistantMessage["content"];
    expect(prepare([user("q"), assistant(content, { stopReason: "aborted" }), user("go on")])).toEqual([
      "user: q",
      "assistant: I was sayi",
      "user: go on",
    ]);
  });

  test("a failed answer without text is dropped", () => {
    expect(prepare([user("q"), assistant([], { stopReason: "error" }), user("again")])).toEqual([
      "user: q",
      "user: again",
    ]);
  });
});

describe("content that cannot be sent", () => {
  test("empty blocks and messages are dropped", () => {
    expect(prepare([user(""), user(" \n"), user("q"), assistant([text("")]), assistant([text("a")])])).toEqual([
      "user: q",
      "assistant: a",
    ]);
  });

  test.each([
    [{ data: "AAAA", mimeType: "image/png" }, target, "(image)"],
    [{ data: "AAAA", mimeType: "image/png" }, { ...target, input: ["text" as const] }, /does not see images/],
    [{ data: "AAAA", mimeType: "image/tiff" }, target, /not a type it accepts/],
    [{ data: "A".repeat(104), mimeType: "image/png" }, target, /too large/],
    [{ data: "data:image/png;base64,AAAA", mimeType: "image/png" }, target, /damaged/],
    [{ data: "", mimeType: "image/png" }, target, /damaged/],
  ])("an image %j", (image, model, expected) => {
    const [line] = prepare([{ role: "user", content: [{ type: "image", ...image }], timestamp: 0 }], model as Model);
    expect(line).toMatch(expected);
  });

  test("lone surrogates are replaced everywhere", () => {
    const broken = "a\ud800b";
    const sent = JSON.stringify(
      handOff(
        [user(broken), assistant([text(broken), call("c", "tool", { [broken]: [broken] })]), result("c", broken)],
        target,
        rules,
      ),
    );
    expect(sent.isWellFormed()).toBe(true);
    expect(sent).not.toContain("\\ud800");
  });

  test("a history that begins with an answer gets a user message before it", () => {
    expect(prepare([assistant([text("a")])])[0]).toMatch(/^user: \(/);
    expect(transcript(handOff([assistant([text("a")])], target, { ...rules, userFirst: false }))).toEqual([
      "assistant: a",
    ]);
  });
});

/** Histories as they might be stored on disk: ids, calls and results need not match. */
const ids = fc.constantFrom("a", "b", "a|b", "c".repeat(80), "", "ü");
const anyText = fc.oneof(fc.constantFrom("", " ", "hello", "\ud800"), fc.string({ unit: "binary" }));
const anyImage = fc.record({
  type: fc.constant("image" as const),
  data: fc.oneof(fc.base64String(), fc.string()),
  mimeType: fc.constantFrom("image/png", "image/tiff", ""),
});
const textBlocks = anyText.map((content) => ({ type: "text" as const, text: content }));
const anyCall = fc.record({
  type: fc.constant("toolCall" as const),
  id: ids,
  name: fc.constantFrom("read", "write"),
  arguments: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })),
});
const anyThinking = fc.record(
  { type: fc.constant("thinking" as const), thinking: anyText, thinkingSignature: fc.string(), redacted: fc.boolean() },
  { requiredKeys: ["type", "thinking"] },
);
const anyMessage: fc.Arbitrary<Message> = fc.oneof(
  fc.record({
    role: fc.constant("user" as const),
    content: fc.oneof(anyText, fc.array(fc.oneof(textBlocks, anyImage), { maxLength: 3 })),
    timestamp: fc.constant(0),
  }),
  fc
    .record({
      content: fc.array(fc.oneof(textBlocks, anyThinking, anyCall), { maxLength: 4 }),
      provider: fc.constantFrom("anthropic", "other"),
      stopReason: fc.constantFrom("stop" as const, "toolUse" as const, "aborted" as const, "error" as const),
    })
    .map(({ content, provider, stopReason }) => assistant(content, { provider, stopReason })),
  fc.record({
    role: fc.constant("toolResult" as const),
    toolCallId: ids,
    toolName: fc.constant("read"),
    content: fc.array(fc.oneof(textBlocks, anyImage), { maxLength: 2 }),
    isError: fc.boolean(),
    timestamp: fc.constant(0),
  }),
);
const histories = fc.array(anyMessage, { maxLength: 12 });

describe("any history can be sent", () => {
  test("every call has exactly one result, directly after it, and every result a call", () => {
    fc.assert(
      fc.property(histories, (messages) => {
        const prepared = handOff(messages, target, rules);
        const seen = new Set<string>();
        for (let index = 0; index < prepared.length;) {
          const message = prepared[index++]!;
          expect(message.role).not.toBe("toolResult");
          if (message.role !== "assistant") continue;
          for (const block of message.content) {
            if (block.type !== "toolCall") continue;
            expect(block.id).toMatch(/^[a-zA-Z0-9_-]{1,20}$/);
            expect(seen.has(block.id)).toBe(false);
            seen.add(block.id);
            expect(prepared[index++]).toMatchObject({ role: "toolResult", toolCallId: block.id });
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  test("no message or text is empty, all text is well-formed, and the first message is from the user", () => {
    fc.assert(
      fc.property(histories, (messages) => {
        const prepared = handOff(messages, target, rules);
        if (prepared.length > 0) expect(prepared[0]!.role).toBe("user");
        for (const message of prepared) {
          expect(message.content.length).toBeGreaterThan(0);
          for (const block of message.content) if (block.type === "text") expect(block.text.trim()).not.toBe("");
        }
        expect(JSON.stringify(prepared.map(({ content }) => content))).not.toMatch(/\\ud[89a-f][0-9a-f]{2}/);
      }),
      { numRuns: 500 },
    );
  });

  test("the stored history is not modified", () => {
    fc.assert(
      fc.property(histories, (messages) => {
        const before = structuredClone(messages);
        handOff(messages, target, rules);
        expect(messages).toEqual(before);
      }),
    );
  });

  test("appending to a history whose calls have results does not change the earlier prepared messages", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("ask", "call", "say"), { maxLength: 8 }), (steps) => {
        const messages: Message[] = [user("start")];
        let before = handOff(messages, target, rules);
        steps.forEach((step, index) => {
          if (step === "ask") messages.push(user(`question ${index}`));
          else if (step === "say") messages.push(assistant([text(`answer ${index}`)]));
          else messages.push(assistant([call(`id|${index % 3}`)]), result(`id|${index % 3}`, `result ${index}`));
          const after = handOff(messages, target, rules);
          expect(after.slice(0, before.length)).toEqual(before);
          before = after;
        });
      }),
    );
  });
});

test("hashes are short, stable and distinct", () => {
  const hashes = Array.from({ length: 2_000 }, (_unused, index) => toShortHash(`id ${index}`));
  expect(new Set(hashes).size).toBe(2_000);
  expect(hashes.every((hash) => /^[a-z0-9]{13}$/.test(hash))).toBe(true);
  expect(toShortHash("id 1")).toBe(hashes[1]);
});

test.each([
  ["both follow the second call", [[call("x")], "hello", [call("x")], "A", "B"]],
  ["one follows its call, and the other comes later", [[call("x")], "A", [call("x")], "hello", "B"]],
  ["one answer makes both, and only the first follows", [[call("x"), call("x")], "A", "hello", "B"]],
  ["both come after an answer that was aborted", ["aborted", [call("x")], "hello", [call("x")], "A", "B"]],
] as const)("two calls with one id get their results in order, if %s", (_when, steps) => {
  const history = steps.map((step): Message => {
    if (typeof step !== "string") return assistant([...step]);
    if (step === "aborted") return assistant([text("I"), call("y")], { stopReason: "aborted" });
    return step === "hello" ? user(step) : result("x", step);
  });
  const results = handOff(history, target, rules).filter((message) => message.role === "toolResult");
  expect(results.map(({ content }) => content)).toEqual([[text("A")], [text("B")]]);
});

test("calls that all have the same id get different ids, with work in proportion to their number", () => {
  let rewrites = 0;
  const toolCallId = (id: string) => {
    rewrites++;
    return id;
  };
  const history = Array.from({ length: 1_000 }, () =>
    assistant([{ type: "toolCall", id: "call_1", name: "look", arguments: {} }]),
  );
  const prepared = handOff(history, target, { ...rules, toolCallId });
  const ids = prepared.flatMap((message) => (message.role === "toolResult" ? [message.toolCallId] : []));
  expect(new Set(ids).size).toBe(1_000);
  expect(rewrites).toBeLessThan(3_000);
});

describe("a message that was prepared before", () => {
  const history: Message[] = [
    { role: "user", content: [{ type: "text", text: "Look." }], timestamp: 1 },
    assistant([{ type: "toolCall", id: "call_1", name: "look", arguments: { at: "a" } }]),
  ];

  test("is not prepared again", () => {
    const before = handOff(history, target, rules);
    const after = handOff([...history, assistant([{ type: "text", text: "Done." }])], target, rules);
    expect(after.slice(0, 2)).toEqual(before.slice(0, 2));
    expect([after[0] === before[0], after[1] === before[1]]).toEqual([true, true]);
  });

  test("is prepared again if its content was changed, in place too, or if it goes to another model", () => {
    const content = [{ type: "text" as const, text: "one" }];
    const message: Message = { role: "user", content, timestamp: 1 };
    const getText = () => JSON.stringify(handOff([message], target, rules)[0]?.content);
    expect(getText()).toContain("one");
    content[0]!.text = "two";
    expect(getText()).toContain("two");
    content.push({ type: "text", text: "three" });
    expect(getText()).toContain("three");
    const image: Message = {
      role: "user",
      content: [{ type: "image", data: "AAAA", mimeType: "image/png" }],
      timestamp: 1,
    };
    expect(handOff([image], target, rules)[0]?.content).toEqual(image.content);
    expect(JSON.stringify(handOff([image], { ...target, input: ["text"] }, rules))).toContain("does not see images");
  });
});

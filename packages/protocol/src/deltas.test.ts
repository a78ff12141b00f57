import fc from "fast-check";
import { expect, test } from "vitest";
import { mergeDeltas } from "./deltas.ts";
import type { Delta } from "./event.ts";
import { emptyView, reduce } from "./view.ts";

const messageId = fc.constantFrom("m1", "m2");
const delta = fc.string({ maxLength: 3 });
const deltas: fc.Arbitrary<Delta[]> = fc.array(
  fc.oneof(
    fc.record({ type: fc.constant("text_delta" as const), messageId, delta, index: fc.nat(9) }),
    fc.record({ type: fc.constant("thinking_delta" as const), messageId, delta, index: fc.nat(9) }),
    fc.record(
      {
        type: fc.constant("toolcall_delta" as const),
        messageId,
        delta,
        toolCallId: fc.constantFrom("c1", "c2"),
        toolName: fc.constantFrom("read", "write"),
      },
      { requiredKeys: ["type", "messageId", "delta", "toolCallId"] },
    ),
  ),
);

test("merged deltas give the same view as all of them", () => {
  const started = reduce(emptyView, {
    type: "message_start",
    messageId: "m1",
    role: "assistant",
    model: "m",
    usage: { inputTokens: 0 },
  });
  fc.assert(
    fc.property(deltas, (all) => {
      expect(mergeDeltas(all).reduce(reduce, started)).toEqual(all.reduce(reduce, started));
    }),
  );
});

test("neighbours that continue each other become one", () => {
  const text = (part: string, index: number) => ({ type: "text_delta", messageId: "m1", delta: part, index }) as const;
  const call = (toolCallId: string) => ({ type: "toolcall_delta", messageId: "m1", toolCallId, delta: "x" }) as const;
  expect(mergeDeltas([text("a", 0), text("b", 1), call("c1"), call("c1"), call("c2"), text("c", 2)])).toEqual([
    text("ab", 0),
    { ...call("c1"), delta: "xx" },
    call("c2"),
    text("c", 2),
  ]);
});

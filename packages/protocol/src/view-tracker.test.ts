import fc from "fast-check";
import { expect, test } from "vitest";
import type { Delta, SessionEvent } from "./event.ts";
import { emptyView, reduce } from "./view.ts";
import { ViewTracker } from "./view-tracker.ts";

const start: SessionEvent = {
  type: "message_start",
  messageId: "m1",
  role: "assistant",
  model: "acme",
  usage: { inputTokens: 1 },
};

const messageId = fc.constantFrom("m1", "m2");
const delta = fc.string({ maxLength: 3 });
const anyDelta: fc.Arbitrary<Delta> = fc.oneof(
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
);

test("the view is what reducing every event would give, whenever somebody looks", () => {
  const looks = fc.array(fc.record({ event: anyDelta, isLookedAt: fc.boolean() }));
  fc.assert(
    fc.property(looks, (steps) => {
      const tracker = new ViewTracker();
      tracker.take(start);
      let expected = reduce(emptyView, start);
      for (const { event, isLookedAt } of steps) {
        tracker.take(event);
        expected = reduce(expected, event);
        if (isLookedAt) expect(tracker.view).toEqual(expected);
      }
      expect(tracker.view).toEqual(expected);
    }),
  );
});

test("a snapshot replaces what came before it", () => {
  const tracker = new ViewTracker();
  for (const event of [start, { type: "text_delta", messageId: "m1", delta: "a", index: 0 } as const])
    tracker.take(event);
  tracker.view = emptyView;
  expect(tracker.view).toBe(emptyView);
});

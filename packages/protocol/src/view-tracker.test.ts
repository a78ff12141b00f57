import { expect, test } from "vitest";
import type { SessionEvent } from "./event.ts";
import { emptyView, reduce } from "./view.ts";
import { ViewTracker } from "./view-tracker.ts";

const start: SessionEvent = {
  type: "message_start",
  messageId: "m",
  role: "assistant",
  model: "acme",
  usage: { inputTokens: 1 },
};
const deltas = Array.from({ length: 1_000 }, (_unused, index): SessionEvent => ({
  type: index % 3 === 0 ? "thinking_delta" : "text_delta",
  messageId: "m",
  delta: `${index} `,
  index,
}));

test("the view is what reducing every event would give, whenever somebody looks", () => {
  for (const every of [1, 7, 300, Number.POSITIVE_INFINITY]) {
    const tracker = new ViewTracker();
    for (const [index, event] of [start, ...deltas].entries()) {
      tracker.take(event);
      if (index % every === 0) void tracker.view;
    }
    expect(tracker.view).toEqual([start, ...deltas].reduce(reduce, emptyView));
  }
});

test("a snapshot replaces what came before it", () => {
  const tracker = new ViewTracker();
  for (const event of [start, ...deltas]) tracker.take(event);
  tracker.view = emptyView;
  expect(tracker.view).toBe(emptyView);
});

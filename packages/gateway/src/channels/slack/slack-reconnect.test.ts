import { expect, test } from "vitest";
import { decideReconnect, type LostConnection } from "./slack-reconnect.ts";
import { classifyFrame } from "./slack-socket.ts";

const lost: LostConnection = { reason: "gone", isFinal: false, isRenewal: false, livedMs: 0 };
const longMs = 60_000;

test.each<[string, Partial<LostConnection>, number, object]>([
  ["needs a person", { isFinal: true, livedMs: longMs }, 0, { kind: "fail", reason: "gone" }],
  ["is renewed", { isRenewal: true, livedMs: longMs }, 7, { kind: "retry", forMs: 0, failures: 1 }],
  ["is renewed soon", { isRenewal: true }, 0, { kind: "retry", forMs: 0, failures: 1 }],
  ["is renewed soon again", { isRenewal: true }, 1, { kind: "retry", forMs: 2_000, failures: 2 }],
  ["is lost", { livedMs: longMs }, 7, { kind: "retry", forMs: 1_000, failures: 1 }],
  ["is lost soon", {}, 0, { kind: "retry", forMs: 1_000, failures: 1 }],
  ["is lost soon again", {}, 2, { kind: "retry", forMs: 4_000, failures: 3 }],
  ["is lost for hours", {}, 500, { kind: "retry", forMs: 60_000, failures: 501 }],
  ["is limited", { retryAfterMs: 90_000 }, 0, { kind: "retry", forMs: 90_000, failures: 1 }],
])("a connection that %s", (_, change, failures, next) => {
  expect(decideReconnect({ ...lost, ...change }, failures)).toEqual(next);
});

test.each([
  [{ type: "hello" }, "hello"],
  [{ type: "disconnect", reason: "warning" }, "disconnect"],
  [{ type: "events_api", envelope_id: "1", payload: { event: { type: "message" } } }, "envelope"],
  [{ type: "events_api", envelope_id: "1", payload: {} }, "unreadable"],
  [{ type: "events_api", envelope_id: "1" }, "unreadable"],
  [{ type: "events_api", payload: { event: { type: "message" } } }, "unreadable"],
  [{ type: "interactive", envelope_id: "1", payload: {} }, "envelope"],
  [{ type: "close", envelope_id: "1", payload: {} }, "unreadable"],
  [undefined, "unreadable"],
])("the frame %j is: %s", (frame, kind) => {
  expect(classifyFrame(frame)).toBe(kind);
});

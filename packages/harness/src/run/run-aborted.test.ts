import type { RunEnd } from "@tau/protocol";
import { describe, expect, test } from "vitest";
import { RunAborted, toRunAborted } from "./run-aborted.ts";

const defaultReason = AbortSignal.abort().reason as unknown;
const withCode = (code: string) => Object.assign(new Error("The socket closed."), { code });

describe("an abort from outside", () => {
  test.each<[what: string, reason: unknown, end: RunEnd, message: string]>([
    ["no reason", undefined, { kind: "aborted", by: "person" }, "The run was aborted."],
    ["null", null, { kind: "aborted", by: "person" }, "The run was aborted."],
    ["an empty text", "", { kind: "aborted", by: "person" }, "The run was aborted."],
    ["a signal's default reason", defaultReason, { kind: "aborted", by: "person" }, "The run was aborted."],
    ["a number", 7, { kind: "aborted", by: "person" }, "The run was aborted."],
    ["an object without words", {}, { kind: "aborted", by: "person" }, "The run was aborted."],
    ["a text", "Lunch.", { kind: "aborted", by: "person", reason: "Lunch." }, "Lunch."],
    ["an error", new Error("Lunch."), { kind: "aborted", by: "person", reason: "Lunch." }, "Lunch."],
    ["an error with a code", withCode("EPIPE"), { kind: "aborted", by: "person", reason: "EPIPE" }, "EPIPE"],
    [
      "the text gateway_disconnected",
      "gateway_disconnected",
      { kind: "disconnected" },
      "The connection to the gateway was lost.",
    ],
    [
      "the code gateway_disconnected",
      withCode("gateway_disconnected"),
      { kind: "disconnected" },
      "The connection to the gateway was lost.",
    ],
    [
      "the message gateway_disconnected",
      new Error("gateway_disconnected"),
      { kind: "disconnected" },
      "The connection to the gateway was lost.",
    ],
    [
      "a text that only mentions it",
      "not gateway_disconnected",
      { kind: "aborted", by: "person", reason: "not gateway_disconnected" },
      "not gateway_disconnected",
    ],
  ])("with %s", (_what, reason, end, message) => {
    const aborted = toRunAborted(reason, "person");
    expect(aborted.end).toEqual(end);
    expect(aborted.message).toBe(message);
    expect(aborted.isSteered).toBe(false);
  });

  test.each(["person", "signal", "parent"] as const)("says who asked for it: %s", (by) => {
    expect(toRunAborted(undefined, by).end).toEqual({ kind: "aborted", by });
  });

  test("that already says how the run ends is kept as it is", () => {
    const steered = new RunAborted({ kind: "aborted", by: "person" }, "Interrupted.", { isSteered: true });
    expect(toRunAborted(steered, "parent")).toBe(steered);
  });

  test("is an AbortError, so that tools recognise it", () => {
    const controller = new AbortController();
    controller.abort(toRunAborted("Lunch.", "signal"));
    expect(() => controller.signal.throwIfAborted()).toThrow(expect.objectContaining({ name: "AbortError" }));
  });
});

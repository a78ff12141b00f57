import { expect, test } from "vitest";
import { decideStream } from "./decide-stream.ts";

const long = "word ".repeat(60);
const first = { shownText: "", sinceShownMs: 0, minIntervalMs: 1_000 };
const later = { shownText: "It is", ageMs: 9_000, minIntervalMs: 1_000 };

test.each([
  [{ ...first, text: "", ageMs: 5_000 }, { kind: "idle" }],
  [
    { ...first, text: "It", ageMs: 100 },
    { kind: "wait", forMs: 1_400 },
  ],
  [{ ...first, text: "It", ageMs: 1_500 }, { kind: "show" }],
  [
    { ...first, text: long, ageMs: 100 },
    { kind: "wait", forMs: 200 },
  ],
  [{ ...first, text: long, ageMs: 300 }, { kind: "show" }],
  [{ ...first, text: " __SIL", ageMs: 9_000 }, { kind: "idle" }],
  [{ ...first, text: "HEARTBEAT_OK\n", ageMs: 9_000 }, { kind: "idle" }],
  [{ ...first, text: "HEARTBEAT_OK, but", ageMs: 9_000 }, { kind: "show" }],
  [{ ...later, text: "It is\n", sinceShownMs: 5_000 }, { kind: "idle" }],
  [
    { ...later, text: "It is so", sinceShownMs: 400 },
    { kind: "wait", forMs: 600 },
  ],
  [{ ...later, text: "It is so", sinceShownMs: 1_000 }, { kind: "show" }],
] as const)("%j: %j", (facts, step) => {
  expect(decideStream(facts)).toEqual(step);
});

import { expect, test } from "vitest";
import { formatKeyName, pickKey } from "./key-ring.ts";

const keys = ["key-one-aaaa", "key-two-bbbb", "key-three-cccc"];
const noneAside = () => Number.NEGATIVE_INFINITY;
const ids = Array.from({ length: 300 }, (_unused, index) => `0199-${index * 7919}-session`);
const pick = (sessionId: string, after?: string, getUntilMs: (key: string) => number = noneAside) =>
  pickKey({ keys, sessionId, after, getUntilMs, nowMs: 1_000 });

test("a session always gets the same key, and sessions are spread over all of them", () => {
  expect(ids.map((id) => pick(id))).toEqual(ids.map((id) => pick(id)));
  const counts = keys.map((key) => ids.filter((id) => pick(id) === key).length);
  for (const count of counts) expect(count).toBeGreaterThan(60);
});

test("after a key comes the next one, and after the last the first", () => {
  expect(keys.map((key) => pick("any", key))).toEqual([keys[1], keys[2], keys[0]]);
});

test("a key that is set aside is skipped until its time, unless all are", () => {
  const isAside = (key: string) => (key === keys[1] ? 1_001 : 0);
  expect(ids.map((id) => pick(id, undefined, isAside))).not.toContain(keys[1]);
  expect(pick("any", keys[0], isAside)).toBe(keys[2]);
  expect(pick("any", keys[0], (key) => (key === keys[1] ? 1_000 : 0))).toBe(keys[1]);
  expect(pick("any", undefined, (key) => 5_000 - keys.indexOf(key))).toBe(keys[2]);
});

test("without keys there is none", () => {
  expect(pickKey({ keys: [], sessionId: "any", after: undefined, getUntilMs: noneAside, nowMs: 0 })).toBeUndefined();
});

test("a key is named by its last four characters, and a short one not at all", () => {
  expect(formatKeyName("sk-ant-0123456789")).toBe("…6789");
  expect(formatKeyName("secret1")).toBe("…");
});

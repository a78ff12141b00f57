import { expect, test } from "vitest";
import { getProfile } from "@tau/policy/internal";
import { KillRules } from "./kill-rules.ts";
import { QuotaMeter } from "./quota.ts";

function createMeter(profile: string) {
  let now = 0;
  const meter = new QuotaMeter(
    () => getProfile(profile).quota,
    () => now,
  );
  return { meter, pass: (ms: number) => void (now += ms) };
}

const times = (count: number, work: () => unknown) => Array.from({ length: count }, work);

test.each([
  ["safe", 20],
  ["balanced", 100],
  ["permissive", 500],
])("the profile %s allows %i calls in a second, and one breach of that counts once", (profile, max) => {
  const { meter, pass } = createMeter(profile);
  expect(times(max, () => meter.countCall()).every((breach) => breach === undefined)).toBe(true);
  expect(meter.countCall()).toMatchObject({ isNew: true });
  expect(meter.countCall()).toMatchObject({ isNew: false });
  pass(1_000);
  expect(meter.countCall()).toBeUndefined();
});

test("calls in a minute are counted too", () => {
  const { meter, pass } = createMeter("safe");
  let breach;
  for (let second = 0; second < 30 && !breach; second++) {
    for (let call = 0; call < 18; call++) breach ??= meter.countCall();
    pass(1_000);
  }
  expect(breach?.message).toBe("The quota of 500 calls in a minute is used up.");
});

test("processes count while they run, requests and bytes for good", () => {
  const { meter } = createMeter("safe");
  times(4, () => expect(meter.beginProcess()).toBeUndefined());
  expect(meter.beginProcess()).toMatchObject({ isNew: true });
  meter.endProcess();
  expect(meter.beginProcess()).toBeUndefined();
  times(200, () => expect(meter.countRequest()).toBeUndefined());
  expect([meter.countRequest(), meter.countRequest()]).toMatchObject([{ isNew: true }, { isNew: true }]);
  expect(meter.countWritten(50 * 1024 * 1024)).toBeUndefined();
  expect(meter.countWritten(1)).toMatchObject({ isNew: true });
});

test("without a limit nothing is too much", () => {
  const { meter } = createMeter("balanced");
  expect(meter.countWritten(2 ** 40)).toBeUndefined();
});

test("three denied dangerous calls in a row are too many, and an allowed one begins anew", () => {
  const rules = new KillRules(() => 0);
  expect(rules.noteDangerous("denied")).toBeUndefined();
  expect(rules.noteDangerous("denied")).toBeUndefined();
  expect(rules.noteDangerous("allowed")).toBeUndefined();
  expect(times(2, () => rules.noteDangerous("denied"))).toEqual([undefined, undefined]);
  expect(rules.noteDangerous("denied")).toMatchObject({ rule: "denied-calls" });
});

test("three crashes within a minute are too many", () => {
  let now = 0;
  const rules = new KillRules(() => now);
  for (const at of [0, 30_000, 60_000, 90_000]) {
    now = at;
    expect(rules.noteCrash()).toBeUndefined();
  }
  now = 100_000;
  expect(rules.noteCrash()).toMatchObject({ rule: "crashes" });
});

test("the second breach of a quota is too many", () => {
  const rules = new KillRules(() => 0);
  expect(rules.noteBreach("x")).toBeUndefined();
  expect(rules.noteBreach("x")).toMatchObject({ rule: "quota" });
});

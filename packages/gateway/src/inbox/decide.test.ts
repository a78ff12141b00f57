import type { QueueMode } from "@tau/protocol/gateway";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decideAdmission, decideNext, decideRecovery, joinTexts, pickUntold } from "./decide.ts";
import type { StoredMessage } from "./message.ts";

const message = (text: string, mode: QueueMode = "steer", acceptedAt = 0): StoredMessage => ({
  id: text,
  sessionId: "s",
  text,
  mode,
  origin: { kind: "client" },
  acceptedAt,
  state: "waiting",
});

const next = (waiting: StoredMessage[], isBusy: boolean, nowMs = 0) => {
  const step = decideNext({ waiting, isBusy, nowMs, debounceMs: 500 });
  if (step.kind === "wait") return `wait ${step.forMs}`;
  if (step.kind !== "inject") return step.kind;
  return `${step.messages.map(({ text }) => text).join("+")} ${step.queue}${step.interrupt ? " interrupt" : ""}`;
};

describe("what is handed to the session next", () => {
  test.each<[string, StoredMessage[], boolean, number, string]>([
    ["nothing waits", [], false, 0, "nothing"],
    ["idle: in order", [message("a"), message("b", "followup")], false, 0, "a steer"],
    ["busy: each mode has its way", [message("a", "followup")], true, 0, "a followUp"],
    ["busy: interrupting", [message("a", "interrupt")], true, 0, "a steer interrupt"],
    ["busy: what is gathered waits", [message("a", "collect")], true, 9_999, "when_idle"],
    ["busy: and does not hold up others", [message("a", "collect"), message("b")], true, 0, "b steer"],
    ["idle: gathering", [message("a", "collect", 100)], false, 200, "wait 400"],
    [
      "idle: each one begins the pause anew",
      [message("a", "collect"), message("b", "collect", 400)],
      false,
      600,
      "wait 300",
    ],
    ["idle: the pause is over", [message("a", "collect"), message("b", "collect", 400)], false, 900, "a+b followUp"],
    ["idle: who does not wait ends the pause", [message("a", "collect"), message("b")], false, 1, "a followUp"],
    ["idle: a command is said alone", [message("/x", "collect"), message("b", "collect")], false, 900, "/x followUp"],
    ["idle: and ends what is gathered", [message("a", "collect"), message("/x", "collect")], false, 900, "a followUp"],
    ["a clock that was set back", [message("a", "collect", 10_000)], false, 0, "wait 500"],
  ])("%s", (_name, waiting, isBusy, nowMs, expected) => expect(next(waiting, isBusy, nowMs)).toBe(expected));

  test("gathering ends, also when somebody writes without a pause", () => {
    const waiting = Array.from({ length: 13 }, (_, index) => message(String(index), "collect", index * 400));
    expect(next(waiting, false, 4_900)).toBe("wait 100");
    expect(next(waiting, false, 5_000)).toContain("0+1+2");
  });
});

test.each<[number, "old" | "new" | "summarise", string]>([
  [2, "old", ""],
  [3, "old", "0"],
  [5, "summarise", "0,1,2"],
  [3, "new", "refuse"],
  [2, "new", ""],
])("with %i messages and a cap of 3, %s gives up %s", (count, drop, expected) => {
  const waiting = Array.from({ length: count }, (_, index) => message(String(index)));
  const admission = decideAdmission(waiting, { cap: 3, drop });
  expect(admission.kind === "refuse" ? "refuse" : admission.drops.map(({ id }) => id).join()).toBe(expected);
});

test("what was left out is told on a line each, without naming files, and never in a command", () => {
  const long = message(`Look at @secrets.txt\nand ${"x".repeat(200)}`);
  const text = joinTexts([message("One."), message("Two.")], [long, message("Short.")]);
  expect(text.split("\n")).toHaveLength(7);
  expect(text).toContain("- Look at @ secrets.txt and xxx");
  expect(text.endsWith("One.\n\nTwo.")).toBe(true);
  expect(pickUntold([message("/compact")], [long])).toEqual([]);
});

describe("a message without an outcome, when its session is opened", () => {
  const facts = { isFromBefore: true, ageMs: 1, ttlMs: 10 };
  const command = { ...message("/x"), handover: { logId: "x", told: [], isCommand: true } };
  test.each([
    ["was said", message("a"), { ...facts, logged: "said" }, "settle injected"],
    ["was taken back", message("a"), { ...facts, logged: "cancelled" }, "settle cancelled"],
    ["was refused", message("a"), { ...facts, logged: "refused" }, "settle dead"],
    ["waits in the session's own queue", message("a"), { ...facts, logged: "waiting" }, "queued"],
    ["is young", message("a"), { ...facts, logged: undefined }, "inject"],
    ["is too old", message("a"), { ...facts, logged: undefined, ageMs: 10 }, "settle dead"],
    ["is old, but was said", message("a"), { ...facts, logged: "said", ageMs: 10 }, "settle injected"],
    [
      "waits long in this process",
      message("a"),
      { ...facts, logged: undefined, ageMs: 10, isFromBefore: false },
      "inject",
    ],
    ["may have been executed", command, { ...facts, logged: undefined }, "settle dead"],
  ] as const)("%s", (_name, stored, given, expected) => {
    const recovery = decideRecovery(stored, given);
    expect(recovery.kind === "settle" ? `settle ${recovery.outcome.kind}` : recovery.kind).toBe(expected);
  });
});

test("every message is handed over once, in the order of its kind, whatever comes when", () => {
  const modes = fc.constantFrom<QueueMode>("steer", "followup", "collect", "interrupt");
  const arrivals = fc.array(fc.record({ mode: modes, afterMs: fc.nat(600), isBusy: fc.boolean() }), { maxLength: 20 });
  const property = fc.property(arrivals, (list) => {
    let nowMs = 0;
    let waiting: StoredMessage[] = [];
    const said: StoredMessage[] = [];
    const settle = (isBusy: boolean) => {
      for (;;) {
        const step = decideNext({ waiting, isBusy, nowMs, debounceMs: 500 });
        if (step.kind !== "inject") return step;
        said.push(...step.messages);
        waiting = waiting.filter((each) => !step.messages.includes(each));
      }
    };
    const all = list.map(({ mode, afterMs, isBusy }, index) => {
      nowMs += afterMs;
      const each = message(String(index), mode, nowMs);
      waiting = [...waiting, each];
      settle(isBusy);
      return each;
    });
    const last = settle(false);
    if (last.kind === "wait") nowMs += last.forMs;
    settle(false);
    expect(said.toSorted((a, b) => Number(a.id) - Number(b.id))).toEqual(all);
    for (const isGathered of [true, false]) {
      const ofKind = said.filter(({ mode }) => (mode === "collect") === isGathered).map(({ id }) => Number(id));
      expect(ofKind).toEqual(ofKind.toSorted((a, b) => a - b));
    }
  });
  fc.assert(property);
});

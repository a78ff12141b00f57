import { createFakeClock } from "@tau/ai/testing";
import type { SessionEvent } from "@tau/protocol";
import { describe, expect, test } from "vitest";
import type { Answer, Question } from "@tau/policy";
import { Approvals, type AskChoice } from "./approvals.ts";
import { Publisher } from "../run/publisher.ts";

const question: Question = {
  id: "q1",
  toolCallId: "c1",
  toolName: "bash",
  summary: "Run rm.",
  reason: "the mode is prompt",
  commands: [["bash", "-c", "rm"]],
  choices: [
    { choice: "once", label: "Yes, this once" },
    { choice: "always", rule: "exec rm", label: "Always" },
  ],
  request: {
    subject: { kind: "model", sessionId: "s" },
    capability: "exec",
    target: { kind: "command", command: "rm" },
  },
};

/** Approvals that ask by `choice`, and what is told of them. */
function open(choice: AskChoice = "surface") {
  const publisher = new Publisher((message) => expect.fail(message));
  const events: SessionEvent[] = [];
  publisher.onSessionEvent((event) => events.push(event));
  const clock = createFakeClock();
  const approvals = new Approvals({ sessionId: "one", publisher, clock, timeoutMs: () => 5_000 });
  const controller = new AbortController();
  const ask = (asked = question) => approvals.port(choice)!(asked, controller.signal);
  return { approvals, events, controller, ask, clock };
}

const getResolved = (events: readonly SessionEvent[]) => events.filter(({ type }) => type === "approval_resolved");

test("a question is told with everything that a person needs, and open until it is answered", async () => {
  const { approvals, events, ask, clock } = open();
  const asked = ask();
  expect(events).toEqual([
    {
      type: "approval_requested",
      approval: {
        id: "q1",
        toolCallId: "c1",
        toolName: "bash",
        summary: "Run rm.",
        reason: "the mode is prompt",
        commands: [["bash", "-c", "rm"]],
        choices: question.choices,
        expiresAt: clock.now() + 5_000,
        timeoutMs: 5_000,
      },
    },
  ]);
  expect(approvals.answer("q1", { decision: "allow" })).toBe(true);
  expect(await asked).toEqual({ decision: "allow" });
  expect(getResolved(events)).toEqual([
    { type: "approval_resolved", approvalId: "q1", decision: "allowed", by: "person" },
  ]);
});

describe("only a clear yes allows", () => {
  test.each<[unknown, "allow" | "deny"]>([
    [{ decision: "allow" }, "allow"],
    [{ decision: "deny" }, "deny"],
    [{ decision: "yes" }, "deny"],
    [{ decision: true }, "deny"],
    [{}, "deny"],
    [null, "deny"],
    [undefined, "deny"],
    ["allow", "deny"],
  ])("%j: %s", async (answer, decision) => {
    const { approvals, events, ask } = open();
    const asked = ask();
    approvals.answer("q1", answer as Answer);
    expect(await asked).toMatchObject({ decision });
    expect(getResolved(events)).toMatchObject([{ decision: decision === "allow" ? "allowed" : "denied" }]);
  });
});

test("the first answer counts; a second one, or one to a question that was never asked, is told so", async () => {
  const { approvals, events, ask } = open();
  const asked = ask();
  expect(approvals.answer("q1", { decision: "deny", by: "gateway" })).toBe(true);
  expect(approvals.answer("q1", { decision: "allow" })).toBe(false);
  expect(approvals.answer("q9", { decision: "allow" })).toBe(false);
  expect(await asked).toEqual({ decision: "deny", by: "gateway" });
  expect(getResolved(events)).toMatchObject([{ decision: "denied", by: "gateway" }]);
});

test.each<[Answer, "allowed" | "denied"]>([
  [{ decision: "allow", choice: "always" }, "allowed"],
  [{ decision: "allow", choice: "always", rule: "exec rm" }, "allowed"],
  [{ decision: "allow", choice: "always", rule: "exec *" }, "denied"],
  [{ decision: "allow", choice: "session" }, "denied"],
])("%j is told as %s: a yes to what was not offered is none", async (answer, decision) => {
  const { approvals, events, ask } = open();
  const asked = ask();
  approvals.answer("q1", answer);
  expect(await asked).toEqual(answer);
  expect(getResolved(events)).toMatchObject([{ decision }]);
});

test("two questions are open at once, and each has its own answer", async () => {
  const { approvals, ask } = open();
  const first = ask();
  const second = ask({ ...question, id: "q2" });
  approvals.answer("q2", { decision: "allow" });
  approvals.answer("q1", { decision: "deny" });
  expect(await Promise.all([first, second])).toEqual([{ decision: "deny" }, { decision: "allow" }]);
});

test("a question that is not answered in time is denied", async () => {
  const { approvals, events, ask, clock } = open();
  const asked = ask();
  await clock.advance(5_000);
  expect(await asked).toMatchObject({ decision: "deny", by: "timeout" });
  expect(approvals.answer("q1", { decision: "allow" })).toBe(false);
  expect(getResolved(events)).toMatchObject([{ decision: "denied", by: "timeout" }]);
});

describe("an abort", () => {
  test.each(["while the question is open", "before it was asked"])("%s denies, and is told", async (when) => {
    const { approvals, events, controller, ask } = open();
    if (when === "before it was asked") controller.abort();
    const asked = ask();
    controller.abort();
    expect(await asked).toEqual({ decision: "deny", by: "abort", message: "the run was aborted" });
    expect(events.map(({ type }) => type)).toEqual(["approval_requested", "approval_resolved"]);
    expect(approvals.answer("q1", { decision: "allow" })).toBe(false);
  });

  test("after the answer changes nothing", async () => {
    const { approvals, events, controller, ask } = open();
    const asked = ask();
    approvals.answer("q1", { decision: "allow" });
    controller.abort();
    expect(await asked).toEqual({ decision: "allow" });
    expect(getResolved(events)).toHaveLength(1);
  });
});

describe("a function that is asked too", () => {
  test("answers the question, and is given what the policy asks", async () => {
    const given: unknown[] = [];
    const { events, controller, ask } = open(async (...request) => {
      given.push(...request);
      return { decision: "allow", by: "extension" };
    });
    expect(await ask()).toEqual({ decision: "allow", by: "extension" });
    expect(given).toEqual([question, controller.signal]);
    expect(getResolved(events)).toMatchObject([{ decision: "allowed", by: "extension" }]);
  });

  test("may be slower than a surface: then the surface counts, and its own answer changes nothing", async () => {
    let answerLate = (_answer: Answer) => {};
    const late = new Promise<Answer>((resolve) => (answerLate = resolve));
    const { approvals, events, ask } = open(() => late);
    const asked = ask();
    expect(approvals.answer("q1", { decision: "deny" })).toBe(true);
    answerLate({ decision: "allow" });
    expect(await asked).toEqual({ decision: "deny" });
    await late;
    expect(getResolved(events)).toHaveLength(1);
  });

  test.each<[string, () => Promise<Answer>]>([
    ["rejects", () => Promise.reject(new Error("The terminal is gone."))],
    [
      "throws",
      () => {
        throw new Error("The terminal is gone.");
      },
    ],
  ])("denies when it %s, and says why", async (_how, fail) => {
    const { events, ask } = open(fail);
    expect(await ask()).toMatchObject({ decision: "deny", message: expect.stringContaining("The terminal is gone.") });
    expect(getResolved(events)).toMatchObject([{ decision: "denied" }]);
  });
});

test("a surface may set a time for its answers, and the settings have precedence", async () => {
  const cases = [
    { settingMs: 5_000, surfaceMs: 30_000, expected: 5_000 },
    { settingMs: undefined, surfaceMs: 30_000, expected: 30_000 },
    { settingMs: undefined, surfaceMs: undefined, expected: 300_000 },
  ];
  for (const { settingMs, surfaceMs, expected } of cases) {
    const surface = { isAttended: () => true, timeoutMs: () => surfaceMs };
    const publisher = new Publisher((message) => expect.fail(message));
    const clock = createFakeClock();
    const approvals = new Approvals({ sessionId: "one", publisher, clock, timeoutMs: () => settingMs });
    const asked = approvals.port(surface)!(question, new AbortController().signal);
    let answer: Answer | undefined;
    void asked.then((value) => void (answer = value));
    await clock.advance(expected - 1);
    expect(answer).toBeUndefined();
    await clock.advance(1);
    expect(answer).toMatchObject({ decision: "deny", by: "timeout" });
  }
});

test("a surface that does not answer now is not asked", () => {
  const { approvals, events } = open();
  let isAttended = false;
  const surface = { isAttended: (sessionId: string) => isAttended && sessionId === "one" };
  expect(approvals.port(surface)).toBeUndefined();
  isAttended = true;
  expect(approvals.port(surface)).toBeDefined();
  expect(events).toEqual([]);
});

describe("without the setting for it", () => {
  /** Asks a question, and returns what is reported of it and whether it is still open after a day. */
  async function askFor(choice: AskChoice) {
    const publisher = new Publisher((message) => expect.fail(message));
    const events: SessionEvent[] = [];
    publisher.onSessionEvent((event) => events.push(event));
    const clock = createFakeClock();
    const approvals = new Approvals({ sessionId: "one", publisher, clock, timeoutMs: () => undefined });
    const asked = approvals.port(choice)!(question, new AbortController().signal);
    await clock.advance(24 * 60 * 60 * 1_000);
    const isOpen = approvals.answer("q1", { decision: "allow" });
    const [requested] = events;
    return { isOpen, answer: await asked, approval: requested?.type === "approval_requested" && requested.approval };
  }

  test("a question at a terminal waits for ever, and has no end", async () => {
    const { isOpen, answer, approval } = await askFor({ isAttended: () => true, timeoutMs: () => "never" });
    expect({ isOpen, answer }).toEqual({ isOpen: true, answer: { decision: "allow" } });
    expect(approval).not.toHaveProperty("expiresAt");
    expect(approval).not.toHaveProperty("timeoutMs");
  });

  test("a question elsewhere ends after five minutes, and says when", async () => {
    const { isOpen, answer, approval } = await askFor({ isAttended: () => true });
    expect({ isOpen, by: answer.by }).toEqual({ isOpen: false, by: "timeout" });
    expect(approval).toMatchObject({ timeoutMs: 300_000, expiresAt: expect.any(Number) });
  });
});

import { getEventListeners } from "node:events";
import type { DescribedTool } from "@tau/tools";
import { expect, test } from "vitest";
import type { Answer } from "./policy.ts";
import { noScript, builtIn, createTestJudge, patch } from "../test/judge-kit.ts";

test("what the policy allows goes on, and the audit is told", async () => {
  const { call, outcomes, questions } = createTestJudge({ answers: [] });
  expect(await call("read", { path: "a.ts" })).toBeUndefined();
  expect(await call("bash", { command: "ls" })).toBeUndefined();
  expect(outcomes()).toEqual(["allowed root /w/a.ts", "allowed default"]);
  expect(questions).toEqual([]);
});

test("what the policy denies is blocked with its reason, and nobody is asked", async () => {
  const { call, outcomes, questions } = createTestJudge({ answers: [{ decision: "allow" }] });
  expect(await call("read", { path: "/etc/shadow" })).toEqual({
    block: true,
    reason: expect.stringMatching(/^\/etc\/shadow is where credentials are kept/),
  });
  expect(outcomes()).toEqual(["denied credential-file /etc/shadow"]);
  expect(questions).toEqual([]);
});

test("the question says what the call would do, and names the path that it really has", async () => {
  const { call, questions, outcomes } = createTestJudge({ answers: [{ decision: "allow", by: "ann" }] });
  expect(await call("read", { path: "link/a" })).toBeUndefined();
  expect(questions).toMatchObject([
    {
      id: "q1",
      toolCallId: "c1",
      toolName: "read",
      summary: "Read link/a",
      reason: "Reading /outside/a needs permission: it is outside the workspace.",
      request: {
        subject: { kind: "model", sessionId: "s" },
        capability: "read",
        target: { kind: "path", path: "/outside/a" },
      },
    },
  ]);
  expect(outcomes()).toEqual(["allowed outside ann /outside/a"]);
});

test("where nobody is there to ask, it is denied in words that say so and what a person can do", async () => {
  const { call, outcomes } = createTestJudge();
  expect(await call("read", { path: "/etc/hosts" })).toEqual({
    block: true,
    reason:
      "Reading /etc/hosts needs permission: it is outside the workspace. No person is there to ask, so it was not done. Only the user can allow it, before another run: continue without it, or say in your answer what you need it for.",
  });
  expect(outcomes()).toEqual(["denied outside /etc/hosts"]);
});

test("a person's no is passed on, with their reason where they gave one", async () => {
  const { call, outcomes } = createTestJudge({
    answers: [{ decision: "deny", message: "not today" }, { decision: "deny" }],
  });
  expect(await call("read", { path: "/etc/hosts" })).toEqual({
    block: true,
    reason: "The user did not allow the call: not today",
  });
  expect((await call("read", { path: "/etc/hosts" }))?.reason).toMatch(/^The user did not allow the call\. Do not try/);
  expect(outcomes()).toEqual(["denied outside person /etc/hosts", "denied outside person /etc/hosts"]);
});

test.each(["timeout", "nobody", "abort"])("a question that nobody answered is told as such: %s", async (by) => {
  const { call } = createTestJudge({ answers: [{ decision: "deny", by, message: "it took too long" }] });
  expect((await call("read", { path: "/etc/hosts" }))?.reason).toBe("Nobody allowed the call: it took too long");
});

test("an answer that is neither yes nor no is no", async () => {
  const { call } = createTestJudge({ answers: [{ decision: "yes" } as unknown as Answer] });
  expect(await call("read", { path: "/etc/hosts" })).toMatchObject({ block: true });
});

test("a question that cannot be asked is answered with no", async () => {
  const { call, decisions } = createTestJudge({ answers: [new Error("the line is dead")] });
  expect((await call("read", { path: "/etc/hosts" }))?.reason).toMatch(/No person could be asked: the line is dead$/);
  expect(decisions[0]).toMatchObject({ outcome: "denied" });
  expect(decisions[0]).not.toHaveProperty("by");
});

test("nobody is asked about a call of which another part is denied anyway", async () => {
  const { call, questions, outcomes } = createTestJudge({ answers: [{ decision: "allow" }] });
  expect(await call("hashline_patch", patch("/x/a", "/etc/shadow"))).toMatchObject({ block: true });
  expect(questions).toEqual([]);
  expect(outcomes()).toEqual(["denied credential-file /etc/shadow"]);
});

test("what cannot be written down is not done, and nothing is granted", async () => {
  const audit = () => Promise.reject(new Error("the disk is full"));
  const { call, grants } = createTestJudge({ audit, answers: [{ decision: "allow", choice: "session" }] });
  expect((await call("bash", { command: "ls" }))?.reason).toMatch(/could not be written down: the disk is full$/);
  expect(await call("read", { path: "/etc/hosts" })).toMatchObject({ block: true });
  expect(grants.forCall("c1").allows("read", "/etc/hosts")).toBe(false);
  expect((await call("read", { path: "/etc/shadow" }))?.reason).toMatch(/credentials/);
});

test("a policy that throws, and a path that cannot be followed, deny", async () => {
  const broken = createTestJudge({
    decide: () => {
      throw new Error("the policy is broken");
    },
  });
  expect(await broken.call("bash", { command: "ls" })).toEqual({ block: true, reason: "the policy is broken" });
  expect(broken.outcomes()).toEqual(["denied not-decided"]);
  const circle = createTestJudge({
    files: {
      realPath: () => Promise.reject(new Error("a link in a circle")),
      stat: async () => undefined,
      readWhole: noScript,
    },
  });
  expect(await circle.call("read", { path: "a" })).toEqual({ block: true, reason: "a link in a circle" });
  expect(circle.outcomes()).toEqual(["denied not-decided /w/a"]);
});

test("an abort while a person is asked denies at once, and leaves no listener", async () => {
  const abort = new AbortController();
  let asked: AbortSignal | undefined;
  const { call, decisions } = createTestJudge({
    ask: (_question, signal) => {
      asked = signal;
      return new Promise(() => undefined);
    },
  });
  const judged = call("read", { path: "/etc/hosts" }, abort.signal);
  await expect.poll(() => asked).toBe(abort.signal);
  expect(getEventListeners(abort.signal, "abort")).toHaveLength(1);
  abort.abort();
  expect(await judged).toEqual({ block: true, reason: "Aborted before a person answered." });
  expect(getEventListeners(abort.signal, "abort")).toEqual([]);
  expect(decisions).toMatchObject([{ outcome: "denied" }]);
});

test("an answer leaves no listener either, and one that fails after the abort harms nobody", async () => {
  const abort = new AbortController();
  const answered = createTestJudge({ answers: [{ decision: "allow" }] });
  await answered.call("read", { path: "/etc/hosts" }, abort.signal);
  expect(getEventListeners(abort.signal, "abort")).toEqual([]);
  let fail: (reason: Error) => void = () => undefined;
  const { call } = createTestJudge({ ask: () => new Promise((_resolve, reject) => void (fail = reject)) });
  const judged = call("read", { path: "/etc/hosts" }, abort.signal);
  await expect.poll(() => getEventListeners(abort.signal, "abort").length).toBe(1);
  abort.abort();
  expect(await judged).toMatchObject({ block: true });
  fail(new Error("too late"));
});

test("nobody is asked after an abort", async () => {
  const { call, questions } = createTestJudge({ answers: [{ decision: "allow" }] });
  expect(await call("read", { path: "/etc/hosts" }, AbortSignal.abort())).toMatchObject({ block: true });
  expect(questions).toEqual([]);
});

test("what a policy of one's own allows is granted to the call, so that the guard lets it through", async () => {
  const { call, grants } = createTestJudge({ decide: () => ({ kind: "allow", rule: "mine" }) });
  expect(await call("read", { path: "/data/a" })).toBeUndefined();
  expect(grants.forCall("c1").allows("read", "/data/a")).toBe(true);
  grants.endCall("c1");
  expect(grants.forCall("c1").allows("read", "/data/a")).toBe(false);
});

test("a call that is ended while its permission is written down leaves no grant behind", async () => {
  const controller = new AbortController();
  const { call, grants } = createTestJudge({
    answers: [{ decision: "allow", choice: "session" }],
    audit: async () => controller.abort(),
  });
  expect(await call("read", { path: "/etc/hosts" }, controller.signal)).toMatchObject({ block: true });
  expect(grants.forCall("c1").allows("read", "/etc/hosts")).toBe(false);
});

test("a tool that needs a scope is denied to a run without it, and judged as others with it", async () => {
  const tools = [{ ...builtIn.find(({ name }) => name === "read")!, requiredScope: "files" } as DescribedTool];
  const without = createTestJudge({ tools, hasScope: () => false });
  expect(await without.call("read", { path: "a" })).toMatchObject({ reason: expect.stringContaining('"files"') });
  const having = createTestJudge({ tools, hasScope: (scope) => scope === "files" });
  expect(await having.call("read", { path: "a" })).toBeUndefined();
});

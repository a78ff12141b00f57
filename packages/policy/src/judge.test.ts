import { getEventListeners } from "node:events";
import type { Stats } from "node:fs";
import type { BeforeToolCallContext } from "@tau/agent";
import { createTools, type DescribedTool } from "@tau/tools";
import { describe, expect, test } from "vitest";
import { adviseUser } from "./advice.ts";
import { createDefaultPolicy } from "./default-policy.ts";
import { type Grant, Grants, isCovered } from "./grants.ts";
import { createJudge, type JudgeParts } from "./judge.ts";
import type { Answer, Decision, Question } from "./policy.ts";

interface TestParts extends Partial<JudgeParts> {
  answers?: (Answer | Error)[];
  /** Default: the built-in ones. */
  tools?: DescribedTool[];
  /** The paths that are there. */
  existing?: string[];
  /** The contents of scripts by their paths. */
  scripts?: Map<string, string>;
}

const noScript = () => Promise.reject(new Error("There is no such file."));

/** Rules that are kept as long as the test. */
function createRules(rules: Grant[] = []): JudgeParts["remembered"] {
  return {
    covers: async (capability, target, options) => isCovered(rules, capability, target, options),
    add: async (_scope, grant) => void rules.push(grant),
  };
}

const builtIn = Object.values(createTools({ cwd: "/w" }).byName);

/** A judge of `/w` whose ports write down what they are given. */
function createTestJudge(parts: TestParts = {}) {
  const questions: Question[] = [];
  const decisions: Decision[] = [];
  const grants = new Grants();
  const { answers, tools = builtIn, existing = [], scripts = new Map<string, string>(), ...given } = parts;
  let count = 0;
  const judge = createJudge({
    decide: createDefaultPolicy({ roots: ["/w"], home: "/home/ann", agentDir: "/home/ann/.tau" }),
    ask:
      answers &&
      (async (question) => {
        questions.push(question);
        const answer = answers.shift();
        if (!answer || answer instanceof Error) throw answer ?? new Error("nothing left to answer");
        return answer;
      }),
    audit: (decision) => void decisions.push(decision),
    grants,
    remembered: createRules(),
    subject: { kind: "model", sessionId: "s" },
    cwd: "/w",
    home: "/home/ann",
    getMode: () => "edit",
    files: {
      realPath: async (path) => path.replace(/^\/w\/link/, "/outside"),
      stat: async (path) => (existing.includes(path) ? ({} as Stats) : undefined),
      readWhole: async (path) => {
        const content = scripts.get(path);
        return content === undefined ? await noScript() : { realPath: path, bytes: Buffer.from(content), stamp: "" };
      },
    },
    ids: () => `q${++count}`,
    ...given,
  });
  const call = (name: string, args: Record<string, unknown>, signal?: AbortSignal) =>
    judge(calling(name, args, tools), signal);
  const outcomes = () =>
    decisions.map(({ outcome, rule, by, request: { target } }) =>
      [outcome, rule, by, target.kind === "path" ? target.path : undefined].filter(Boolean).join(" "),
    );
  return { call, grants, questions, decisions, outcomes };
}

const calling = (name: string, args: Record<string, unknown>, tools: DescribedTool[]): BeforeToolCallContext => ({
  assistantMessage: {
    role: "assistant",
    content: [],
    api: "scripted",
    provider: "scripted",
    model: "scripted",
    usage: {
      input: 0,
      output: 0,
      cacheRead: 0,
      cacheWrite: 0,
      totalTokens: 0,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    },
    stopReason: "toolUse",
    timestamp: 0,
  },
  toolCall: { type: "toolCall", id: "c1", name, arguments: args },
  args,
  context: { systemPrompt: "", messages: [], tools },
});

const patch = (...paths: string[]) => ({ patch: paths.map((path) => `¶${path}#12ab\n1!`).join("\n") });

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

test("a yes counts for the call, until it ends", async () => {
  const { call, grants, questions } = createTestJudge({ answers: [{ decision: "allow" }, { decision: "allow" }] });
  await call("read", { path: "/etc/hosts" });
  const ofCall = grants.forCall("c1");
  expect(ofCall.allows("read", "/etc/hosts")).toBe(true);
  expect(ofCall.allows("write", "/etc/hosts")).toBe(false);
  expect([grants, grants.forCall("c2")].map((others) => others.allows("read", "/etc/hosts"))).toEqual([false, false]);
  grants.endCall("c1");
  expect(ofCall.allows("read", "/etc/hosts")).toBe(false);
  await call("read", { path: "/etc/hosts" });
  expect(questions).toHaveLength(2);
});

test.each(["session", "project", "always"] as const)(
  "a yes for %s is not asked for again in the session",
  async (choice) => {
    const { call, grants, questions, outcomes } = createTestJudge({ answers: [{ decision: "allow", choice }] });
    expect(await call("ls", { path: "/outside" })).toBeUndefined();
    grants.endCall("c1");
    expect(await call("read", { path: "/outside/below/it" })).toBeUndefined();
    expect(await call("write", { path: "/outside/below/it", content: "" })).toMatchObject({ block: true });
    expect(questions).toHaveLength(2);
    const rule = choice === "session" ? "granted" : "remembered";
    expect(outcomes().slice(0, 2)).toEqual(["allowed outside person /outside", `allowed ${rule} /outside/below/it`]);
  },
);

test.each(["project", "always"] as const)(
  "a rule for %s that the user removes does not count any longer",
  async (choice) => {
    const rules: Grant[] = [];
    const { call, questions } = createTestJudge({
      answers: [{ decision: "allow", choice }, { decision: "deny" }],
      remembered: createRules(rules),
    });
    expect(await call("ls", { path: "/outside" })).toBeUndefined();
    rules.pop();
    expect(await call("ls", { path: "/outside" })).toMatchObject({ block: true });
    expect(questions).toHaveLength(2);
  },
);

test("a command that is always allowed is not asked about in another directory, unless its script is another", async () => {
  const rules: Grant[] = [];
  const run = async (cwd: string, script: string, answers: Answer[]) => {
    const { call, questions } = createTestJudge({
      decide: askForCommands,
      cwd,
      answers,
      remembered: createRules(rules),
      scripts: new Map([[`${cwd}/x.sh`, script]]),
    });
    await call("bash", { command: "./x.sh" });
    return questions.length;
  };
  expect(await run("/w", "a", [{ decision: "allow", choice: "always" }])).toBe(1);
  expect(await run("/w", "a", [])).toBe(0);
  expect(await run("/other", "a", [])).toBe(0);
  expect(await run("/other", "b", [{ decision: "allow", choice: "project" }])).toBe(1);
  expect(await run("/third", "b", [{ decision: "deny" }])).toBe(1);
});

test("one question for one target, however often and however it is spelled in a call", async () => {
  const { call, questions } = createTestJudge({ answers: [{ decision: "allow" }] });
  expect(await call("hashline_patch", patch("/outside/a", "link/a", "/outside/./a", "in.ts"))).toBeUndefined();
  expect(questions).toHaveLength(1);
});

test("each target that asks is asked for, and one no ends the call with all that was granted to it", async () => {
  const { call, questions, outcomes, grants } = createTestJudge({
    answers: [{ decision: "allow" }, { decision: "deny" }],
  });
  expect(await call("hashline_patch", patch("/x/a", "/x/b", "/x/c"))).toMatchObject({ block: true });
  expect(questions).toHaveLength(2);
  expect(outcomes()).toEqual(["allowed outside person /x/a", "denied outside person /x/b"]);
  expect(grants.forCall("c1").allows("write", "/x/a")).toBe(false);
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

const custom = (more: Partial<DescribedTool>): DescribedTool => ({
  name: "weather",
  label: "Weather",
  description: "",
  parameters: { type: "object", properties: {} },
  execute: async () => ({ content: [] }),
  ...more,
});

const getRequests = (decisions: readonly Decision[]) =>
  decisions.map(({ request: { capability, target } }) => ({ capability, target }));

test.each<[string, DescribedTool[]]>([
  ["that says nothing", [custom({})]],
  ["that says it wants nothing", [custom({ access: () => [] })]],
  ["that is not there", []],
])("a tool %s is judged by its name", async (_which, tools) => {
  const { call, decisions } = createTestJudge({ tools });
  expect(await call("weather", { path: "/etc/shadow" })).toBeUndefined();
  expect(getRequests(decisions)).toEqual([{ capability: "tool", target: { kind: "name", name: "weather" } }]);
});

test("a tool of any origin is judged by what it says it wants", async () => {
  const access: DescribedTool["access"] = (_args, cwd) => [
    { capability: "http", target: { kind: "host", host: "example.com" } },
    { capability: "write", target: { kind: "path", path: `${cwd}/forecast.txt` } },
    { capability: "read", target: { kind: "path", path: "stations.json" } },
  ];
  const { call, decisions } = createTestJudge({ tools: [custom({ access })] });
  expect(await call("weather", {})).toBeUndefined();
  expect(getRequests(decisions)).toEqual([
    { capability: "http", target: { kind: "host", host: "example.com" } },
    { capability: "write", target: { kind: "path", path: "/w/forecast.txt" } },
    { capability: "read", target: { kind: "path", path: "/w/stations.json" } },
  ]);
});

test("a tool that cannot say what it wants is denied", async () => {
  const access = () => {
    throw new Error("no idea");
  };
  const { call, outcomes } = createTestJudge({ tools: [custom({ access })] });
  expect(await call("weather", {})).toEqual({ block: true, reason: "no idea" });
  expect(outcomes()).toEqual(["denied not-decided"]);
});

test.each([
  ["nothing", undefined],
  ["a text", "read"],
  ["one thing that is in no list", { capability: "read", target: { kind: "path", path: "/w/a" } }],
  ["no target", [{ capability: "read" }]],
  ["an unknown capability", [{ capability: "all", target: { kind: "path", path: "/w/a" } }]],
  ["an unknown kind of target", [{ capability: "read", target: { kind: "file", path: "/w/a" } }]],
  ["a target without its name", [{ capability: "http", target: { kind: "host" } }]],
  ["a promise of nothing", Promise.resolve(undefined)],
])("a tool that says what it wants in a form that cannot be judged is denied: %s", async (_name, wanted) => {
  const { call, outcomes } = createTestJudge({ tools: [custom({ access: () => wanted as never })] });
  expect(await call("weather", {})).toMatchObject({ reason: expect.stringContaining("does not say what it wants") });
  expect(outcomes()).toEqual(["denied not-decided"]);
});

test("what a tool promises to want is judged too", async () => {
  const access = async () => [{ capability: "read", target: { kind: "path", path: "/outside/a" } }];
  const { call, outcomes } = createTestJudge({ tools: [custom({ access: access as never })] });
  expect(await call("weather", {})).toMatchObject({ block: true });
  expect(outcomes()).toEqual(["denied outside /outside/a"]);
});

test("of two tools with one name the first is judged, as it is the one that runs", async () => {
  const wants = (path: string) => custom({ access: () => [{ capability: "read", target: { kind: "path", path } }] });
  const { call, outcomes } = createTestJudge({ tools: [wants("/w/a"), wants("/etc/shadow")] });
  expect(await call("weather", {})).toBeUndefined();
  expect(outcomes()).toEqual(["allowed root /w/a"]);
});

test("every path that a call may open is decided on, and one that is denied denies the call", async () => {
  const decide: JudgeParts["decide"] = ({ target }) =>
    target.kind === "path" && target.path.includes("\u2019")
      ? { kind: "deny", rule: "test", reason: "It is curled." }
      : { kind: "allow", rule: "test" };
  const { call } = createTestJudge({ decide });
  expect(await call("read", { path: "a's" })).toEqual({ block: true, reason: "It is curled." });
  expect(await call("write", { path: "a's", content: "" })).toBeUndefined();
});

test("of the paths that a call may open, a person is asked for those that exist, and they alone are granted", async () => {
  const [typed, curled] = ["/x/a's", "/x/a\u2019s"];
  const { call, questions, grants } = createTestJudge({ answers: [{ decision: "allow" }], existing: [curled] });
  expect(await call("read", { path: typed })).toBeUndefined();
  expect(questions.map(({ request }) => request.target)).toEqual([{ kind: "path", path: curled }]);
  expect([typed, curled].map((path) => grants.forCall("c1").allows("read", path))).toEqual([false, true]);
});

test("where none of the paths exists, a person is asked for the one that was typed", async () => {
  const { call, questions } = createTestJudge({ answers: [{ decision: "allow" }] });
  expect(await call("read", { path: "/x/a's" })).toBeUndefined();
  expect(questions.map(({ request }) => request.target)).toEqual([{ kind: "path", path: "/x/a's" }]);
});

test("without a person to ask, the answer does not tell which path exists", async () => {
  const reasons = await Promise.all(
    [[], ["/x/a\u2019s"], ["/x/a's"]].map(async (existing) => {
      const { call } = createTestJudge({ existing });
      return (await call("read", { path: "/x/a's" }))?.reason;
    }),
  );
  expect(new Set(reasons).size).toBe(1);
});

test("a question says what would be touched, and what each answer would remember", async () => {
  const { call, questions } = createTestJudge({ answers: [{ decision: "allow" }] });
  await call("read", { path: "/w/link/notes" });
  expect(questions).toMatchObject([
    {
      path: "/outside/notes",
      choices: [
        { choice: "once", label: "Yes, this once" },
        {
          choice: "session",
          rule: "read /outside/notes",
          label: "Yes, for this session: read /outside/notes",
        },
        {
          choice: "session",
          rule: "read /outside/*",
          label: "Yes, for this session: read everything in /outside",
        },
        { choice: "project", rule: "read /outside/notes", label: "Always in this project: read /outside/notes" },
        { choice: "project", rule: "read /outside/*", label: "Always in this project: read everything in /outside" },
        { choice: "always", rule: "read /outside/notes", label: "Always, in every project: read /outside/notes" },
      ],
    },
  ]);
});

test("a yes for longer is remembered, what was remembered is not asked, and a message reaches the model", async () => {
  const added: unknown[] = [];
  const messages: unknown[] = [];
  const remembered = {
    covers: async (_capability: string, target: { kind: string; path?: string }) => target.path === "/known",
    add: async (...rule: unknown[]) => void added.push(rule),
  };
  const { call, questions } = createTestJudge({
    remembered,
    onMessage: (...message) => messages.push(message),
    answers: [{ decision: "allow", choice: "project", message: "only the first line" }],
  });
  expect(await call("read", { path: "/known" })).toBeUndefined();
  expect(await call("read", { path: "/new" })).toBeUndefined();
  expect(questions).toHaveLength(1);
  expect(added).toEqual([["project", { capability: "read", target: { kind: "path", path: "/new" } }]]);
  expect(messages).toEqual([[expect.any(String), "only the first line"]]);
});

test("a yes for longer that cannot be stored denies, and says why", async () => {
  const messages: unknown[] = [];
  const { call, decisions } = createTestJudge({
    remembered: { covers: async () => false, add: () => Promise.reject(new Error("The disk is full.")) },
    onMessage: (...message) => messages.push(message),
    answers: [{ decision: "allow", choice: "always", message: "go on" }],
  });
  const reason =
    "The user allowed the call for longer, which could not be stored, so it was not made: The disk is full.";
  expect(await call("read", { path: "/new" })).toEqual({ block: true, reason });
  expect(messages).toEqual([]);
  expect(await adviseUser(decisions[0]!, { stat: async () => undefined })).toContain(reason);
});

/** A policy that asks about every command, and says which program it runs. */
const askForCommands: JudgeParts["decide"] = ({ target }) => {
  if (target.kind !== "command") return { kind: "allow", rule: "test" };
  const commands = target.command.split("&&").map((part) => part.trim().split(" "));
  return {
    kind: "ask",
    rule: "exec",
    reason: "It is dangerous.",
    exec: { class: null, dangerousCommandClass: null, tier: "high", reason: "It is dangerous.", commands },
  };
};

test("a question about a command names all commands that would run, and offers a rule for those that begin alike", async () => {
  const { call, questions } = createTestJudge({
    decide: askForCommands,
    answers: [{ decision: "deny" }, { decision: "deny" }],
  });
  await call("bash", { command: "npm run build" });
  expect(questions[0]).toMatchObject({
    commands: [
      ["bash", "-c", "npm run build"],
      ["npm", "run", "build"],
    ],
    choices: [
      { choice: "once" },
      { choice: "session", rule: "exec npm run build" },
      { choice: "session", rule: "exec npm run *" },
      { choice: "project", rule: "exec npm run build" },
      { choice: "project", rule: "exec npm run *" },
      { choice: "always", rule: "exec npm run build" },
    ],
  });
  await call("bash", { command: "make && ./x.sh" });
  expect(questions[1]!.commands).toEqual([["bash", "-c", "make && ./x.sh"], ["make"], ["./x.sh"]]);
  expect(questions[1]!.choices).toHaveLength(4);
});

test("a rule for the beginning of commands covers its like in the session, and nothing else", async () => {
  const { call, questions } = createTestJudge({
    decide: askForCommands,
    answers: [
      { decision: "allow", choice: "session", rule: "exec npm run *" },
      { decision: "deny" },
      { decision: "deny" },
    ],
  });
  expect(await call("bash", { command: "npm run build" })).toBeUndefined();
  expect(await call("bash", { command: "npm run test" })).toBeUndefined();
  expect(await call("bash", { command: "npm run test && rm -rf /" })).toMatchObject({ block: true });
  expect(await call("bash", { command: "npm publish" })).toMatchObject({ block: true });
  expect(questions).toHaveLength(3);
});

test("an answer with a rule that was not offered denies", async () => {
  const { call } = createTestJudge({
    decide: askForCommands,
    answers: [{ decision: "allow", choice: "project", rule: "exec *" }],
  });
  expect(await call("bash", { command: "npm run build" })).toMatchObject({ block: true });
});

test("an answer counts for the script that the person was asked about, and for no other", async () => {
  const scripts = new Map([["/w/x.sh", "echo harmless"]]);
  const changing: JudgeParts["ask"] = async () => {
    scripts.set("/w/x.sh", "rm -rf ~");
    return { decision: "allow", choice: "session" };
  };
  const swapped = createTestJudge({ decide: askForCommands, ask: changing, scripts });
  for (const command of ["./x.sh", "bash x.sh", "sh -e ./x.sh"]) {
    scripts.set("/w/x.sh", "echo harmless");
    const result = await swapped.call("bash", { command });
    expect(result?.reason).toMatch(/changed while the question was open/);
  }
  // What was allowed for the session is asked again when the script is another one.
  const asked = createTestJudge({
    decide: askForCommands,
    scripts,
    answers: [{ decision: "allow", choice: "session" }, { decision: "deny" }],
  });
  expect(await asked.call("bash", { command: "./x.sh" })).toBeUndefined();
  expect(await asked.call("bash", { command: "./x.sh" })).toBeUndefined();
  scripts.set("/w/x.sh", "something else");
  expect(await asked.call("bash", { command: "./x.sh" })).toMatchObject({ block: true });
  expect(asked.questions).toHaveLength(2);
});

test("an answer counts for the directory that the person was asked about", async () => {
  let directory = "/w";
  const { call } = createTestJudge({
    decide: askForCommands,
    ask: async () => {
      directory = "/elsewhere";
      return { decision: "allow" };
    },
    files: { realPath: async () => directory, stat: async () => undefined, readWhole: noScript },
  });
  expect((await call("bash", { command: "make" }))?.reason).toMatch(/changed while the question was open/);
});

test("what asks each time is asked although it was allowed before, and can be allowed for this call only", async () => {
  const decide = () => ({ kind: "ask", rule: "taint", reason: "Again\u001b[2J.", asksEachTime: true }) as const;
  const remembered = { covers: async () => true, add: () => Promise.reject(new Error("Nothing is to be added.")) };
  const { call, grants, questions, outcomes } = createTestJudge({
    decide,
    remembered,
    answers: [{ decision: "allow" }, { decision: "allow", choice: "session" }],
  });
  grants.grant({ capability: "read", target: { kind: "path", path: "/outside" } }, "session");
  expect(await call("read", { path: "/outside/a" })).toBeUndefined();
  expect(await call("read", { path: "/outside/a" })).toMatchObject({ block: true });
  expect(questions.map(({ choices }) => choices)).toEqual([
    [{ choice: "once", label: "Yes, this once" }],
    [{ choice: "once", label: "Yes, this once" }],
  ]);
  expect(questions[0]!.reason).not.toContain("\u001b");
  expect(outcomes()).toEqual(["allowed taint person /outside/a", "denied answer /outside/a"]);
});

test("a tool that needs a scope is denied to a run without it, and judged as others with it", async () => {
  const tools = [{ ...builtIn.find(({ name }) => name === "read")!, requiredScope: "files" } as DescribedTool];
  const without = createTestJudge({ tools, hasScope: () => false });
  expect(await without.call("read", { path: "a" })).toMatchObject({ reason: expect.stringContaining('"files"') });
  const having = createTestJudge({ tools, hasScope: (scope) => scope === "files" });
  expect(await having.call("read", { path: "a" })).toBeUndefined();
});

test("a path that cannot be looked at counts as one that exists", async () => {
  const { call, questions } = createTestJudge({
    answers: [{ decision: "deny" }],
    tools: [
      {
        ...builtIn[0]!,
        name: "open",
        access: () => [
          { capability: "read", target: { kind: "path", path: "/outside/typed" }, alternatives: ["/outside/unseen"] },
        ],
      },
    ],
    files: {
      realPath: async (path) => path,
      stat: (path) => (path.endsWith("unseen") ? Promise.reject(new Error("EACCES")) : Promise.resolve(undefined)),
      readWhole: noScript,
    },
  });
  await call("open", {});
  expect(questions.map(({ path }) => path)).toEqual(["/outside/unseen"]);
});

describe("a directory that was allowed", () => {
  const rule = "write /outside/*";
  const decideByRule: JudgeParts["decide"] = ({ target }) => {
    const isProtected = target.kind === "path" && target.path.includes(".git/hooks");
    return { kind: "ask", rule: isProtected ? "protected" : "outside", reason: "It is outside." };
  };

  test.each(["session", "project"] as const)(
    "for the %s covers its files, and not what other programs run",
    async (choice) => {
      const { call, questions } = createTestJudge({
        decide: decideByRule,
        answers: [{ decision: "allow", choice, rule }, { decision: "deny" }, { decision: "deny" }],
      });
      const write = (path: string) => call("write", { path, content: "x" });
      expect(await write("/outside/a")).toBeUndefined();
      expect(await write("/outside/deep/b")).toBeUndefined();
      expect(questions).toHaveLength(1);
      expect(await write("/outside/.git/hooks/pre-commit")).toMatchObject({ block: true });
      expect(await write("/outsider/a")).toMatchObject({ block: true });
    },
  );

  test("is not offered for a file that other programs run", async () => {
    const { call, questions } = createTestJudge({ decide: decideByRule, answers: [{ decision: "deny" }] });
    await call("write", { path: "/outside/.git/hooks/pre-commit", content: "x" });
    expect(questions[0]?.choices.map(({ rule: offered }) => offered)).not.toContain("write /outside/.git/hooks/*");
  });
});

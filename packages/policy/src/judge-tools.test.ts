/** Tests how a tool's own description of its access is judged, and the paths that a call may open. */
import type { DescribedTool } from "@tau/tools";
import { expect, test } from "vitest";
import type { JudgeParts } from "./judge.ts";
import type { Answer, Decision } from "./policy.ts";
import { noScript, builtIn, createTestJudge } from "../test/judge-kit.ts";

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

const allow: Answer = { decision: "allow" };

test.each<[string, DescribedTool["needsApproval"], string | undefined]>([
  ["always", true, "The tool weather needs permission for this call."],
  ["for these arguments", ({ place }) => place === "Rome", "The tool weather needs permission for this call."],
  ["once a promise says so", async () => true, "The tool weather needs permission for this call."],
  [
    "when it cannot say",
    () => {
      throw new Error("no idea");
    },
    "The tool weather failed to say whether this call needs permission (no idea).",
  ],
  [
    "when it says something else than yes or no",
    () => undefined as never,
    "The tool weather needs permission for this call.",
  ],
  ["not for other arguments", ({ place }) => place === "Oslo", undefined],
  ["never", false, undefined],
])("a tool that needs approval asks a person each time: %s", async (_when, needsApproval, reason) => {
  const { call, questions, outcomes } = createTestJudge({
    tools: [custom(needsApproval === undefined ? {} : { needsApproval })],
    answers: [allow, allow],
  });
  for (let count = 0; count < 2; count++) expect(await call("weather", { place: "Rome" })).toBeUndefined();
  expect(questions.map((question) => question.reason)).toEqual(reason === undefined ? [] : [reason, reason]);
  expect(questions.flatMap(({ choices }) => choices.map(({ choice }) => choice))).toEqual(
    reason === undefined ? [] : ["once", "once"],
  );
  expect(outcomes()).toHaveLength(2);
});

test("a call that needs approval is denied where nobody can be asked", async () => {
  const { call } = createTestJudge({ tools: [custom({ needsApproval: true })] });
  expect(await call("weather", {})).toMatchObject({
    reason: expect.stringContaining("needs permission for this call. No person is there"),
  });
});

test("approval is asked for beside what the call wants, and cannot open what is denied", async () => {
  const path = "/home/ann/.ssh/id_rsa";
  const access: DescribedTool["access"] = () => [{ capability: "read", target: { kind: "path", path } }];
  const { call, questions } = createTestJudge({ tools: [custom({ access, needsApproval: true })], answers: [allow] });
  expect(await call("weather", {})).toMatchObject({ reason: expect.stringContaining("credentials") });
  expect(questions).toEqual([]);
});

test("who wrote the text of a call is known also if it needs approval", async () => {
  const access: DescribedTool["access"] = () => [
    { capability: "tool", target: { kind: "name", name: "weather" }, textFrom: "the weather service" },
  ];
  const { call, decisions } = createTestJudge({ tools: [custom({ access, needsApproval: true })], answers: [allow] });
  expect(await call("weather", {})).toBeUndefined();
  expect(decisions).toMatchObject([{ textFrom: "the weather service", by: "person" }]);
});

test("the policy is told which call a request is part of", async () => {
  const calls: unknown[] = [];
  const decide: JudgeParts["decide"] = (_request, call) => {
    calls.push(call);
    return { kind: "allow", rule: "test" };
  };
  const { call } = createTestJudge({ tools: [custom({ needsApproval: true })], decide, answers: [allow] });
  await call("weather", { place: "Rome" });
  expect(calls).toEqual([{ toolName: "weather", args: { place: "Rome" }, needsApproval: true }]);
});

test.each([[true], [false]])("of two wishes for one target the stricter applies, in either order", async (isFirst) => {
  const target = { kind: "name", name: "weather" } as const;
  const wished = { capability: "tool", target, eachTime: "It pays." } as const;
  const plain = { capability: "tool", target } as const;
  const access = () => (isFirst ? [wished, plain] : [plain, wished]);
  const { call, outcomes } = createTestJudge({ tools: [custom({ access })] });
  expect(await call("weather", {})).toMatchObject({ block: true });
  expect(outcomes()).toEqual(["denied each-time"]);
});

test("an abort ends the wait for a tool that never says whether it needs permission", async () => {
  const controller = new AbortController();
  const needsApproval = () => {
    controller.abort();
    return new Promise<boolean>(() => {});
  };
  const { call, outcomes } = createTestJudge({ tools: [custom({ needsApproval })] });
  expect(await call("weather", {}, controller.signal)).toMatchObject({ block: true });
  expect(outcomes()).toEqual(["denied each-time"]);
});

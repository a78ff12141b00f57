/** Tests how long an answer applies, what it covers, and what each answer offers to remember. */
import { describe, expect, test } from "vitest";
import { adviseUser } from "./advice.ts";
import type { Grant } from "./grants.ts";
import type { JudgeParts } from "./judge.ts";
import type { Answer } from "./policy.ts";
import { noScript, createRules, createTestJudge, patch } from "../test/judge-kit.ts";

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

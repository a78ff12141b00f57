import type { DescribedTool } from "@tau/tools";
import { expect, test } from "vitest";
import type { PermissionMode } from "@tau/protocol";
import type { Answer, Decision, Question, Verdict } from "./policy.ts";
import { askToRetry, type StoppedCall } from "./retry-outside.ts";

const tool: DescribedTool = {
  name: "bash",
  label: "bash",
  description: "",
  parameters: { type: "object", properties: {} },
  access: ({ command }: { command: string }) => [{ capability: "exec", target: { kind: "command", command } }],
  execute: async () => ({ content: [] }),
};

const refused = { reason: "The sandbox refused it.", hosts: ["a.example"], paths: ["/opt"], mayLeave: true };

interface Given {
  answer?: Partial<Answer> | undefined;
  verdict?: Verdict;
  refused?: Partial<StoppedCall["refused"]>;
  script?: () => string;
  mode?: PermissionMode;
}

async function ask({
  answer,
  verdict = { kind: "allow", rule: "exec" },
  script = () => "",
  mode = "edit",
  ...given
}: Given) {
  const added: unknown[] = [];
  const questions: Question[] = [];
  const decisions: Decision[] = [];
  const reading = async (path: string) => ({ realPath: path, bytes: Buffer.from(script()), stamp: "" });
  const result = await askToRetry(
    {
      decide: () => ({
        ...verdict,
        exec: { class: null, dangerousCommandClass: null, tier: "low", reason: "", commands: [["./run.sh"]] },
      }),
      ask:
        answer &&
        (async (question) => {
          questions.push(question);
          return { decision: "allow", ...answer };
        }),
      audit: (decision) => void decisions.push(decision),
      subject: { kind: "model", sessionId: "s" },
      cwd: "/w",
      getMode: () => mode,
      remembered: { covers: async () => false, add: async (scope, grant) => void added.push({ scope, ...grant }) },
      files: { realPath: async (path) => path, stat: async () => undefined, readWhole: reading },
      ids: () => "q1",
    },
    { toolCallId: "c1", tool, name: "bash", args: { command: "./run.sh" }, refused: { ...refused, ...given.refused } },
    new AbortController().signal,
  );
  return { result, question: questions[0], decisions, added };
}

const getRules = (question: Question | undefined) => question?.choices.map(({ choice, rule }) => `${choice} ${rule}`);

test("one question offers the hosts, the path, and a run outside, the narrowest first", async () => {
  const { question } = await ask({ answer: {} });
  expect(question).toMatchObject({ toolCallId: "c1", reason: expect.stringContaining("The sandbox refused it.") });
  expect(question?.commands?.[0]).toEqual(["bash", "-c", "./run.sh"]);
  expect(getRules(question)).toEqual([
    "once network a.example",
    "session network a.example",
    "project network a.example",
    "once path /opt",
    "session path /opt",
    "once outside ./run.sh",
  ]);
});

test.each<[Partial<Answer>, unknown]>([
  [{}, { kind: "inside", hosts: ["a.example"], paths: [], term: "command" }],
  [{ choice: "session" }, { kind: "inside", hosts: ["a.example"], paths: [], term: "session" }],
  [
    { choice: "session", rule: "path /opt" },
    { kind: "inside", hosts: [], paths: ["/opt"], term: "session" },
  ],
  [{ choice: "once", rule: "outside ./run.sh" }, { kind: "outside" }],
])("the answer %j allows exactly that", async (answer, retry) => {
  const { result, decisions } = await ask({ answer });
  expect(result).toEqual({ kind: "again", retry });
  expect(decisions).toEqual([expect.objectContaining({ outcome: "allowed", by: "person", rule: "sandbox" })]);
});

test.each<[string, Given]>([
  ["a no", { answer: { decision: "deny" } }],
  ["a rule that was not offered", { answer: { choice: "once", rule: "network b.example" } }],
  ["a choice that was not offered", { answer: { choice: "always" } }],
  ["outside for longer than once", { answer: { choice: "session", rule: "outside ./run.sh" } }],
])("%s denies, and is written down", async (_name, given) => {
  const { result, decisions } = await ask(given);
  expect(result).toMatchObject({ kind: "denied", message: expect.any(String) });
  expect(decisions).toEqual([expect.objectContaining({ outcome: "denied", by: "person" })]);
});

test("an answer does not count for a script that was changed while the question was open", async () => {
  let reads = 0;
  const { result } = await ask({ answer: {}, script: () => String(reads++) });
  expect(result).toMatchObject({
    kind: "denied",
    message: expect.stringMatching(/changed while the question was open/),
  });
});

test("without a person it is denied, and the person is told what to configure", async () => {
  const { result, decisions } = await ask({});
  expect(result).toEqual({ kind: "denied" });
  expect(decisions).toEqual([expect.objectContaining({ outcome: "denied" })]);
  expect(decisions[0]?.reason).toMatch(/refused it\..*sandbox\.network.*sandbox\.allowedPaths/);
});

test.each<[string, Given]>([
  ["a sandbox that is required", { refused: { mayLeave: false } }],
  ["a command that the policy denies", { verdict: { kind: "deny", rule: "exec", reason: "no" } }],
])("%s is not left", async (_name, given) => {
  const { question } = await ask({ answer: {}, ...given });
  expect(getRules(question)?.some((rule) => rule.includes("outside"))).toBe(false);
  const alone = await ask({ answer: {}, ...given, refused: { ...given.refused, hosts: [], paths: [] } });
  expect(alone).toMatchObject({ result: { kind: "denied" }, question: undefined });
});

test("the answers are told in words, and a host can be allowed for the project", async () => {
  const { question, result, added } = await ask({ answer: { choice: "project", rule: "network a.example" } });
  expect(question?.choices.map(({ label }) => label)).toEqual([
    "Yes, this once: reach a.example",
    "Yes, for this session: reach a.example",
    "Always in this project: reach a.example",
    "Yes, this once: change /opt",
    "Yes, for this session: change /opt",
    "Yes, this once: run it without the sandbox",
  ]);
  expect(result).toMatchObject({ kind: "again", retry: { kind: "inside", hosts: ["a.example"], term: "session" } });
  expect(added).toEqual([{ scope: "project", capability: "http", target: { kind: "host", host: "a.example" } }]);
});

test("in the permission mode free nobody is asked, and the command stays in its sandbox", async () => {
  const { question, result, decisions } = await ask({ answer: {}, mode: "free" });
  expect(question).toBeUndefined();
  expect(result).toMatchObject({ kind: "denied", message: expect.stringContaining("In the permission mode free") });
  expect(decisions).toMatchObject([{ outcome: "denied", rule: "sandbox", by: "policy" }]);
});

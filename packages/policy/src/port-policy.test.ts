import { expect, test } from "vitest";
import { Grants, type Grant } from "./grants.ts";
import type { Answer, Decision, Question, Verdict } from "./policy.ts";
import { createPortPolicy } from "./port-policy.ts";

interface Desk {
  answer?: Answer | "nobody" | "fails";
  verdict?: Verdict;
  audit?: () => void;
  rules?: Grant[];
}

/** A policy with a person who gives the same answer each time. */
function createDesk({
  answer = { decision: "allow" },
  verdict = { kind: "allow", rule: "x" },
  audit,
  rules = [],
}: Desk) {
  const questions: Question[] = [];
  const decisions: Decision[] = [];
  const added: [string, Grant][] = [];
  let lastId = 0;
  const ask = async (question: Question): Promise<Answer> => {
    questions.push(question);
    if (typeof answer === "string") throw new Error("The terminal is gone.");
    return answer;
  };
  const policy = createPortPolicy(() => ({
    decide: () => verdict,
    ask: answer === "nobody" ? undefined : ask,
    audit(decision) {
      audit?.();
      decisions.push(decision);
    },
    subject: { kind: "model", sessionId: "s" },
    cwd: "/work",
    files: {
      realPath: async (path: string) => path,
      stat: async () => undefined,
      readWhole: async () => Buffer.from(""),
    } as never,
    ids: () => `q${++lastId}`,
    home: "/home/ann",
    getMode: () => "edit",
    grants,
    remembered: {
      covers: async (capability, target) =>
        rules.some((rule) => rule.capability === capability && JSON.stringify(rule.target) === JSON.stringify(target)),
      async add(scope, grant) {
        added.push([scope, grant]);
        rules.push(grant);
      },
    },
  }));
  return { policy, questions, decisions, added };
}

let grants = new Grants();
const signal = new AbortController().signal;
const target = { kind: "name", name: "port 127.0.0.1:3000" } as const;

test("the question shows the address, and offers each term with the rule that it would write", async () => {
  grants = new Grants();
  const { policy, questions, decisions } = createDesk({});
  expect(await policy.getStanding(3000)).toBe("ask");
  expect(await policy.ask(3000, signal)).toBe(true);
  expect(questions).toMatchObject([
    {
      host: "127.0.0.1:3000",
      choices: [
        { choice: "once" },
        { choice: "session", rule: "http port 127.0.0.1:3000" },
        { choice: "project", rule: "http port 127.0.0.1:3000" },
        { choice: "always", rule: "http port 127.0.0.1:3000" },
      ],
    },
  ]);
  expect(decisions).toMatchObject([{ outcome: "allowed", by: "person", request: { capability: "http", target } }]);
  // Once: the next server at this port is asked about again.
  expect(await policy.getStanding(3000)).toBe("ask");
});

test.for(["session", "project", "always"] as const)("allowed with %s, it is not asked for again", async (choice) => {
  grants = new Grants();
  const { policy, added } = createDesk({ answer: { decision: "allow", choice } });
  expect(await policy.ask(3000, signal)).toBe(true);
  expect(await policy.getStanding(3000)).toBe("open");
  expect(await policy.getStanding(3001)).toBe("ask");
  expect(added).toEqual(choice === "session" ? [] : [[choice, { capability: "http", target }]]);
});

test("a rule of before opens the port, also where nobody is there to ask", async () => {
  grants = new Grants();
  const { policy } = createDesk({ answer: "nobody", rules: [{ capability: "http", target }] });
  expect(await policy.getStanding(3000)).toBe("open");
  expect(await policy.getStanding(3001)).toBe("closed");
  expect(await policy.ask(3001, signal)).toBe(false);
});

test("a rule for requests to a host does not open the port", async () => {
  grants = new Grants();
  const host = { kind: "host", host: "127.0.0.1:3000" } as const;
  const { policy } = createDesk({ rules: [{ capability: "http", target: host }] });
  expect(await policy.getStanding(3000)).toBe("ask");
});

test.for<[string, Desk]>([
  ["a person who says no", { answer: { decision: "deny" } }],
  ["an answer with another rule", { answer: { decision: "allow", choice: "session", rule: "http port 127.0.0.1:1" } }],
  ["a question that fails", { answer: "fails" }],
  [
    "an audit that fails",
    {
      audit: () => {
        throw new Error("The disk is full.");
      },
    },
  ],
])("%s opens nothing", async ([, desk]) => {
  grants = new Grants();
  const { policy } = createDesk(desk);
  expect(await policy.ask(3000, signal)).toBe(false);
});

test("a policy that denies is not asked about, and neither is an aborted question", async () => {
  grants = new Grants();
  const denied = createDesk({ verdict: { kind: "deny", rule: "x", reason: "No." } });
  expect(await denied.policy.getStanding(3000)).toBe("closed");
  const { policy } = createDesk({});
  expect(await policy.ask(3000, AbortSignal.abort())).toBe(false);
});

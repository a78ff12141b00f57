import type { AccessRequest } from "@tau/tools";
import { expect, test } from "vitest";
import { resolvePolicy } from "../../policy/extension-policy.ts";
import type { Decision } from "../../policy/policy.ts";
import { createEarlyJudge } from "./early-judge.ts";

const signal = new AbortController().signal;

test.each<[string, AccessRequest[], "allowed" | "denied"]>([
  ["a host, where http is given", [{ capability: "http", target: { kind: "host", host: "example.com" } }], "allowed"],
  ["events", [{ capability: "events", target: { kind: "name", name: "x" } }], "allowed"],
  ["a variable, which the profile denies", [{ capability: "env", target: { kind: "name", name: "HOME" } }], "denied"],
  ["a path, whatever the profile gives", [{ capability: "read", target: { kind: "path", path: "/etc/x" } }], "denied"],
  ["a command", [{ capability: "exec", target: { kind: "command", command: "ls" } }], "denied"],
  [
    "one thing that is denied among others",
    [
      { capability: "http", target: { kind: "host", host: "x.org" } },
      { capability: "write", target: { kind: "path", path: "/x" } },
    ],
    "denied",
  ],
])("while extensions load, %s is judged by the policy alone, and written down", async (_what, access, outcome) => {
  const decisions: Decision[] = [];
  const judge = createEarlyJudge({
    extension: "one",
    getPolicy: () => resolvePolicy(),
    audit: (decision) => void decisions.push(decision),
  });
  const reason = await judge({ id: "1", method: "call", args: [], access, summary: "" }, signal);
  expect(reason === undefined).toBe(outcome === "allowed");
  expect(decisions.map((decision) => decision.outcome)).toEqual([outcome]);
  expect(decisions[0]).toMatchObject({ request: { subject: { kind: "extension", name: "one" } }, rule: "loading" });
});

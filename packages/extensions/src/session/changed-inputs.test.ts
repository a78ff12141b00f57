import type { BeforeToolCallContext } from "@tau/agent";
import { createTools } from "@tau/tools";
import { expect, test } from "vitest";
import { Grants, type JudgeParts } from "@tau/policy/internal";
import type { PolicyCall, Question, Verdict } from "@tau/policy";
import { ChangedInputs } from "./changed-inputs.ts";
import { type LoadedExtensions, SessionExtensions, type SessionExtensionsParts } from "./session-extensions.ts";

const tools = Object.values(createTools({ cwd: "/w" }).byName);
const call = {
  toolCall: { type: "toolCall", id: "c1", name: "bash", arguments: {} },
  args: { command: "echo changed" },
  context: { systemPrompt: "", messages: [], tools },
} as unknown as BeforeToolCallContext;

function createChanged(verdict: Verdict) {
  const questions: Question[] = [];
  const calls: (PolicyCall | undefined)[] = [];
  const parts: JudgeParts = {
    decide: (_request, decided) => {
      calls.push(decided);
      return verdict;
    },
    ask: async (question) => {
      questions.push(question);
      return { decision: "deny" };
    },
    audit: () => {},
    grants: new Grants(),
    remembered: { covers: async () => false, add: async () => {} },
    subject: { kind: "model", sessionId: "s" },
    cwd: "/w",
    home: "/home/ann",
    getMode: () => "edit",
    files: {
      realPath: async (path) => path,
      stat: async () => undefined,
      readWhole: () => Promise.reject(new Error()),
    },
    ids: () => "q",
  };
  return { changed: new ChangedInputs({ getJudgeParts: () => parts }), questions, calls };
}

test("who changed a call is named where the changed call is denied or asked about", async () => {
  const named = "The extension guest changed this call and needs the permission too. Not that.";
  const denying = createChanged({ kind: "deny", rule: "r", reason: "Not that." });
  denying.changed.add("c1", "guest");
  expect(await denying.changed.judge(call)).toEqual({ block: true, reason: named });
  const asking = createChanged({ kind: "ask", rule: "r", reason: "Not that." });
  asking.changed.add("c1", "guest");
  expect(await asking.changed.judge(call)).toMatchObject({ block: true });
  expect(asking.questions).toMatchObject([{ reason: named }]);
  // A rule beside the policy knows the call too.
  expect(asking.calls).toMatchObject([{ toolName: "bash", args: { command: "echo changed" } }]);
});

test("a call that was blocked leaves nothing for a later one with its id", async () => {
  const { changed } = createChanged({ kind: "deny", rule: "r", reason: "Not that." });
  changed.add("c1", "guest");
  changed.forget("c1");
  expect(await changed.judge(call)).toBeUndefined();
});

test("a call that no isolated extension changed is not judged for one", async () => {
  const { changed } = createChanged({ kind: "deny", rule: "r", reason: "Not that." });
  expect(await changed.judge(call)).toBeUndefined();
});

test("a nested call is judged for the extension that made it, also after handlers were asked about it", async () => {
  const { changed } = createChanged({ kind: "deny", rule: "r", reason: "Not that." });
  const loaded = { changed } as unknown as LoadedExtensions;
  const extensions = new SessionExtensions({ loaded } as SessionExtensionsParts);
  const toolCall = { ...call.toolCall, id: "c1/1" };
  changed.add("c1/1", "guest");
  const asked = { type: "tool_call", toolCallId: "c1/1", toolName: "bash", input: {}, parentToolCallId: "c1" } as const;
  await extensions.emit(asked);
  expect(await extensions.judgeChanged({ ...call, toolCall })).toMatchObject({ block: true });
});

/** A role for the rest of a run: templates, skills, and the files that prompts mention and calls touch. */
import { call } from "@tau/ai/testing";
import type { WireReply } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { createAgentSession } from "../../src/construct/create-agent-session.ts";
import type { AgentSessionParams } from "../../src/construct/params.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { openWithRoles, says } from "./roles-kit.ts";

const calls = (name: string, args: Record<string, unknown>): WireReply => ({
  kind: "answer",
  answer: { content: [call(name, args)] },
});

const settings = {
  defaultModel: "house/usual",
  roles: { slow: "house/large:high", plan: "house/other", smol: "tiny" },
};

const yml = 'modelRoles:\n  paths:\n    "**/*.py":\n      role: slow\n    "**/planning/**":\n      role: plan\n';

const files = {
  "agent/models.yml": yml,
  "app.py": "print(1)\n",
  "planning/goals.txt": "Goals.\n",
  "notes.txt": "Notes.\n",
  "agent/prompts/review.md": "---\nrole: slow\n---\nReview $1.\n",
  "agent/prompts/odd.md": "---\nrole: fast\n---\nDo it.\n",
  "agent/skills/deep/SKILL.md": "---\nname: deep\ndescription: Thinks.\nrole: '@plan'\n---\nThink.\n",
};

const open = (replies: readonly WireReply[], params: AgentSessionParams = {}) =>
  openWithRoles(settings, params, replies, files);

const getChanges = ({ events }: Pick<Awaited<ReturnType<typeof open>>, "events">) =>
  events.flatMap((event) => (event.type === "model_changed" ? [event] : []));

test.each([
  ["/review app", "large", "The template /review asks for the role slow."],
  ["/skill:deep now", "other", "The skill deep asks for the role plan."],
  ["Fix @app.py", "large", 'app.py matches "**/*.py", which has the role slow.'],
  ["Look at `./app.py:12`, please.", "large", 'app.py matches "**/*.py", which has the role slow.'],
  // The order of the file, not of the prompt.
  ["Compare planning/goals.txt and app.py.", "large", 'app.py matches "**/*.py", which has the role slow.'],
  ["Read planning/goals.txt", "other", 'planning/goals.txt matches "**/planning/**", which has the role plan.'],
])("%s is answered by %s, and the next prompt by the model from before", async (prompt, model, reason) => {
  const opened = await open([says("One."), says("Two.")]);
  const { session, getAsked } = opened;
  await session.prompt(prompt);
  expect([session.model?.id, session.role, session.thinkingLevel]).toEqual(["usual", undefined, "medium"]);
  await session.prompt("Thanks.");
  expect(getAsked()).toEqual([model, "usual"]);
  const [change, back, ...others] = getChanges(opened).filter(({ reason: why }) => why !== undefined);
  expect(change).toMatchObject({ modelId: model, reason, thinkingLevel: model === "large" ? "high" : "medium" });
  expect(back).toMatchObject({ modelId: "usual", reason: expect.stringContaining("is over") as string });
  expect(others).toEqual([]);
});

test.each(["Fix missing.py", "Fix app.pyc", "Thanks", "/odd"])("%s changes nothing", async (prompt) => {
  const opened = await open([says("One.")]);
  await opened.session.prompt(prompt);
  expect(opened.getAsked()).toEqual(["usual"]);
  expect(getChanges(opened).filter(({ reason }) => reason !== undefined)).toEqual([]);
});

test("a role that does not exist is reported, and the run continues", async () => {
  const { session, events } = await open([says("One.")]);
  await session.prompt("/odd");
  const notices = events.flatMap((event) => (event.type === "notice" && event.code === "role" ? [event.message] : []));
  expect(notices).toEqual([expect.stringMatching(/asks for the role fast\. .*There is no role "fast"/)]);
});

test("a call that touches a file changes the model of the next requests, once a run", async () => {
  const opened = await open([
    calls("read", { path: "notes.txt" }),
    calls("read", { path: "planning/goals.txt" }),
    calls("read", { path: "app.py" }),
    says("Done."),
    says("Again."),
  ]);
  await opened.session.prompt("Look around.");
  await opened.session.prompt("And now?");
  expect(opened.getAsked()).toEqual(["usual", "usual", "other", "other", "usual"]);
  const reasons = getChanges(opened).flatMap(({ reason }) => reason ?? []);
  expect(reasons).toEqual([
    'planning/goals.txt matches "**/planning/**", which has the role plan.',
    "The run with the role plan is over.",
  ]);
});

test("a model that is chosen during the run takes its place", async () => {
  const { session, getAsked } = await open([calls("ls", {}), says("Done."), says("Again.")]);
  session.onSessionEvent((event) => {
    if (event.type === "tool_execution_start") void session.setModel("@smol");
  });
  await session.prompt("Fix app.py");
  await session.prompt("Thanks.");
  expect(getAsked()).toEqual(["large", "tiny", "tiny"]);
});

test("a session that was cut off during such a run continues with the model from before", async () => {
  const { session, cwd, agentDir } = await open([
    calls("read", { path: "notes.txt" }),
    { kind: "raw", chunks: [], ending: "hang" },
  ]);
  const done = session.prompt("Fix app.py");
  await expect.poll(() => session.messages.length).toBe(3);
  const sessionManager = await SessionManager.forkFrom(session.sessionFile!, cwd, cwd, { agentDir });
  expect(await sessionManager.getChoices()).toMatchObject({ model: { modelId: "usual" } });
  const again = await createAgentSession({ cwd, agentDir, sessionManager });
  onTestFinished(() => again.dispose());
  expect([again.model?.id, again.role]).toEqual(["usual", undefined]);
  await session.abort();
  await done;
});

test("rules are about the session of a person: a child keeps the model that it was given", async () => {
  const { api, getAsked } = await open([calls("read", { path: "app.py" }), says("Done.")]);
  await (await api.openChild({ name: "explorer", model: "@smol" })).prompt("Look at app.py");
  expect(getAsked()).toEqual(["tiny", "tiny"]);
});

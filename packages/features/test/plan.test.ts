/** The feature `plan` in real sessions. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call, startWireServer, text } from "@tau/ai/testing";
import { createAgentSession } from "@tau/harness";
import { expect, onTestFinished, test } from "vitest";
import { allFeatures, plan } from "../src/index.ts";
import { getProjectName } from "../src/kit/project-name.ts";
import { toFileName } from "../src/plan/plan-file.ts";
import { DialogSurface } from "./dialogs.ts";
import { createTestSession, type TestSessionParams } from "./kit.ts";

type Turns = Parameters<typeof createTestSession>[0];

async function open(
  turns: Turns,
  answers: ConstructorParameters<typeof DialogSurface>[0],
  params: TestSessionParams = {},
) {
  const agentDir = await mkdtemp(join(tmpdir(), "tau-plans-"));
  onTestFinished(() => rm(agentDir, { recursive: true, force: true }));
  const opened = await createTestSession(turns, { features: [plan()], planMode: true, agentDir, ...params });
  onTestFinished(() => opened.dispose());
  const surface = new DialogSurface(answers);
  if (answers) await opened.session.attachSurface(surface);
  const getResults = () =>
    opened.session.messages.flatMap((message) =>
      message.role === "toolResult" ? [{ ...message, text: (message.content[0] as { text: string }).text }] : [],
    );
  const readPlans = async () => {
    const directory = join(agentDir, "plans", getProjectName(opened.cwd));
    const names = await readdir(directory);
    return await Promise.all(names.toSorted().map((name) => readFile(join(directory, name), "utf8")));
  };
  const getEntries = async () => {
    const entries = await opened.session.sessionManager.getBranch();
    return entries.flatMap((entry) => (entry.type === "custom" && entry.customType === "plan" ? [entry.data] : []));
  };
  return { ...opened, surface, getResults, readPlans, getEntries };
}

const proposes = call("propose_plan", { name: "Fix the test", content: "1. Look.\n2. Fix." });
const here = "Accept it, and continue here";

test("an accepted plan is a file and an entry, plan mode is off, and the run continues with what may write", async () => {
  const turns = [[proposes], [call("write", { path: "a.txt", content: "fixed" })], [text("Done.")]];
  const { session, prompt, model, cwd, getResults, readPlans, getEntries } = await open(turns, [here], {
    permissionMode: "edit",
  });
  await prompt("go");
  expect(getResults()).toMatchObject([
    { isError: false, text: "The user accepted the plan. Plan mode is off: carry it out now." },
    { isError: false },
  ]);
  expect(await readFile(join(cwd, "a.txt"), "utf8")).toBe("fixed");
  expect(await readPlans()).toEqual(["# Fix the test\n\n1. Look.\n2. Fix.\n"]);
  expect(await getEntries()).toMatchObject([{ state: "proposed", name: "Fix the test" }, { state: "accepted" }]);
  expect(session.permissions.mode).toBe("edit");
  const lists = model.asked.map(({ context }) => context.tools!.map(({ name }) => name).includes("propose_plan"));
  expect(lists).toEqual([true, false, false]);
});

test("a plan that the person changed is what the model carries out", async () => {
  const { prompt, surface, getResults, readPlans } = await open(
    [[proposes], [text("Done.")]],
    ["Change it in the editor", "1. Only look.", here],
  );
  await prompt("go");
  expect(surface.dialogs[1]).toEqual({ kind: "editor", title: "Fix the test", prefill: "1. Look.\n2. Fix." });
  expect(getResults()[0]!.text).toContain("They changed it:\n\n# Fix the test\n\n1. Only look.");
  expect((await readPlans()).at(-1)).toContain("1. Only look.");
});

test("a plan that is refused stays in plan mode, and the model gets the reason", async () => {
  const { session, prompt, getResults, getEntries } = await open(
    [[proposes], [text("Again.")]],
    ["Say what is wrong", undefined, "Say what is wrong", "Too short."],
  );
  await prompt("go");
  expect(getResults()[0]!.text).toContain("The user does not accept the plan: Too short.\nPlan mode stays on.");
  expect(session.permissions.mode).toBe("plan");
  expect(await getEntries()).toMatchObject([{ state: "proposed" }, { state: "refused", reason: "Too short." }]);
});

test("a question that is closed ends the run in plan mode", async () => {
  const { session, prompt, model } = await open([[proposes]], [undefined]);
  await prompt("go");
  expect(model.left).toBe(0);
  expect(session.permissions.mode).toBe("plan");
});

test("without a person the plan is kept, and the model ends with it", async () => {
  const { session, prompt, getResults, readPlans } = await open([[proposes], [text("The plan.")]], undefined);
  await prompt("go");
  expect(getResults()[0]!.text).toMatch(/^The plan is in .*fix-the-test\.md\. No person is there/);
  expect(await readPlans()).toHaveLength(1);
  expect(session.permissions.mode).toBe("plan");
});

test("in a program that shows one session, a plan for a new session is carried out here", async () => {
  const { session, prompt, surface } = await open(
    [[proposes], [text("Done.")]],
    ["Accept it, and continue in a new session that has only the plan"],
  );
  await prompt("go");
  await expect.poll(() => JSON.stringify(session.messages)).toContain("Carry out this plan, which I have accepted");
  await session.waitForIdle();
  expect(surface.notices.join()).toContain("The plan is carried out here.");
  expect(session.permissions.mode).toBe("edit");
});

test("/plan turns plan mode on and off, and plans what follows it", async () => {
  const { session, prompt, surface } = await open([[text("A plan.")]], [], { planMode: false, permissionMode: "ask" });
  await prompt("/plan");
  expect(session.permissions).toMatchObject({ mode: "plan", afterPlan: "ask" });
  await prompt("/plan");
  expect(session.permissions.mode).toBe("ask");
  await prompt("/plan the release");
  await expect.poll(() => session.messages.at(-1)).toMatchObject({ content: [{ text: "A plan." }] });
  expect(session.messages[0]).toMatchObject({ role: "user" });
  expect(session.permissions.mode).toBe("plan");
  expect(surface.notices).toHaveLength(3);
});

test("/plan continue without a plan says so", async () => {
  const { prompt, surface } = await open([], []);
  await prompt("/plan continue");
  expect(surface.notices).toEqual(["There is no plan in this session. /plan turns plan mode on."]);
});

test("the tools of requests change when the person switches the mode, and at no other time", async () => {
  const turns = [[text("1")], [text("2")], [text("3")], [text("4")], [text("5")]];
  const { session, prompt, model } = await open(turns, [], { planMode: false, features: allFeatures });
  await prompt("one");
  await session.setPermissionMode("ask");
  await prompt("two");
  await session.setPermissionMode("plan");
  await prompt("three");
  await prompt("four");
  await session.setPermissionMode("edit");
  await prompt("five");
  const sent = model.asked.map(({ context }) => JSON.stringify([context.systemPrompt, context.tools]));
  expect(sent[1]).toBe(sent[0]);
  expect(sent[2]).not.toBe(sent[1]);
  expect(sent[3]).toBe(sent[2]);
  expect(sent[4]).toBe(sent[0]);
  expect(sent[2]).toContain("Plan mode is on");
});

test("a child proposes no plans", async () => {
  const { session } = await open([], []);
  const child = await session.openChild({ name: "child" });
  onTestFinished(() => child.dispose());
  expect(child.permissions.mode).toBe("plan");
  expect(child.tools.map(({ name }) => name)).not.toContain("propose_plan");
});

test("plan mode uses the model of the role plan, also after a resume, and then the one before", async () => {
  const server = await startWireServer("openai-completions", [
    { kind: "answer", answer: { content: [text("Hi.")] } },
    { kind: "answer", answer: { content: [text("Hi.")] } },
  ]);
  onTestFinished(() => server.close());
  const cwd = await mkdtemp(join(tmpdir(), "tau-role-"));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  const agentDir = join(cwd, "agent");
  await mkdir(agentDir);
  const models = ["small", "large"].map((id) => ({ id, name: id, contextWindow: 32_000, maxTokens: 4_000 }));
  const acme = { baseUrl: server.url, api: "openai-completions", apiKey: "acme-key-0123456789", models };
  await writeFile(join(agentDir, "models.json"), JSON.stringify({ providers: { acme } }));
  await writeFile(join(agentDir, "settings.json"), JSON.stringify({ roles: { plan: "acme/large" } }));
  const session = await createAgentSession({ cwd, agentDir, model: "acme/small", features: [plan()] });
  await session.attachSurface(new DialogSurface());
  await session.prompt("hi");
  await session.setPermissionMode("plan");
  expect(session.model?.id).toBe("large");
  await session.prompt("plan");
  const { sessionId } = session;
  await session.dispose();
  const again = await createAgentSession({ cwd, agentDir, sessionId, features: [plan()] });
  onTestFinished(() => again.dispose());
  await again.attachSurface(new DialogSurface());
  expect([again.permissions.mode, again.model?.id]).toEqual(["plan", "large"]);
  await again.setPermissionMode("edit");
  expect(again.model?.id).toBe("small");
  // A model that the person chose in plan mode stays.
  await again.setPermissionMode("plan");
  await again.setModel("acme/small");
  await again.setPermissionMode("edit");
  expect(again.model?.id).toBe("small");
});

test.each([
  ["Fix the test!", "2026-01-02T03-04-05-fix-the-test.md"],
  ["../../etc/passwd", "2026-01-02T03-04-05-etc-passwd.md"],
  ["計画", "2026-01-02T03-04-05-plan.md"],
])("%s is kept as %s", (name, file) => {
  expect(toFileName(name, Date.UTC(2026, 0, 2, 3, 4, 5))).toBe(file);
});

/** Features in real sessions: their names give way to extensions, and their commands load them. */
import { call, text } from "@tau/ai/testing";
import { Type } from "typebox";
import { expect, onTestFinished, test } from "vitest";
import type { ExtensionFactory, Feature } from "@tau/extensions";
import { createTestSession, type TestSessionParams } from "../../src/testing/index.ts";
import type { TestTurn } from "../../src/testing/script.ts";

const tool = { name: "plan", label: "Plan", description: "Plan.", parameters: Type.Object({}), access: () => [] };

const answerWith =
  (answer: string): ExtensionFactory =>
  (tau) => {
    tau.registerTool({ ...tool, execute: async () => ({ content: [text(answer)], details: {} }) });
    tau.registerCommand("plan", { handler: (args) => tau.setSessionName(`${answer}: ${args}`) });
  };

function createFeature(load: () => Promise<ExtensionFactory> = async () => answerWith("feature")) {
  const loads: number[] = [];
  const feature: Feature = {
    name: "plan",
    summary: "Plans.",
    tools: [tool],
    commands: [{ name: "plan", description: "Plan." }],
    load() {
      loads.push(1);
      return load();
    },
  };
  return { feature, loads };
}

async function open(turns: readonly TestTurn[], params: TestSessionParams) {
  const opened = await createTestSession(turns, params);
  onTestFinished(() => opened.dispose());
  return opened;
}

const callPlan = [[call("plan", {})], [text("Done.")]];

const getResults = ({ session }: Awaited<ReturnType<typeof open>>) =>
  session.messages.flatMap((message) => (message.role === "toolResult" ? [JSON.stringify(message.content)] : []));

test("a slash command of a feature is listed, and typing it loads the feature", async () => {
  const { feature, loads } = createFeature();
  const { session } = await open([], { features: [feature] });
  expect(session.describeExtensionCommands().map(({ name }) => name)).toEqual(["plan"]);
  expect(session.isExtensionCommand("/plan it")).toBe(true);
  expect(loads).toHaveLength(0);
  expect((await session.submit("/plan it")).disposition).toBe("handled");
  expect(loads).toHaveLength(1);
  await expect.poll(() => session.sessionManager.getSessionName()).toBe("feature: it");
  expect(session.describeExtensionCommands().map(({ name }) => name)).toEqual(["plan"]);
});

test("a tool and a command of an extension with the same name are used instead, and listed as replaced", async () => {
  const { feature, loads } = createFeature();
  const opened = await open(callPlan, { features: [feature], extensions: { factories: [answerWith("extension")] } });
  await opened.prompt("go");
  expect(getResults(opened)[0]).toContain("extension");
  await opened.session.submit("/plan it");
  await expect.poll(() => opened.session.sessionManager.getSessionName()).toBe("extension: it");
  expect(loads).toHaveLength(0);
  const by = expect.stringContaining("inline");
  expect(opened.session.extensions?.replaced).toEqual([
    { kind: "tool", name: "plan", by },
    { kind: "command", name: "plan", by },
  ]);
  expect(opened.session.tools.filter(({ name }) => name === "plan")).toHaveLength(1);
});

test("a feature that cannot be loaded fails the call with the reason, and the next call tries again", async () => {
  let isBroken = true;
  const { feature, loads } = createFeature(async () => {
    if (isBroken) throw new Error("No luck.");
    return answerWith("feature");
  });
  const opened = await open([...callPlan, ...callPlan], { features: [feature] });
  await opened.prompt("go");
  isBroken = false;
  await opened.prompt("again");
  expect(getResults(opened)[0]).toContain("No luck.");
  expect(getResults(opened)[1]).toContain("feature");
  expect(loads).toHaveLength(2);
});

test("calls of one answer load it once, and it hears of the events after them", async () => {
  const seen: string[] = [];
  const { feature, loads } = createFeature(async () => (tau) => {
    void answerWith("feature")(tau);
    for (const name of ["session_start", "tool_execution_end", "agent_settled"] as const)
      tau.on(name as "agent_settled", ({ type }) => void seen.push(type));
  });
  const opened = await open([[call("plan", {}, "a"), call("plan", {}, "b")], [text("Done.")]], { features: [feature] });
  await opened.prompt("go");
  expect(loads).toHaveLength(1);
  expect(seen).toEqual(["session_start", "tool_execution_end", "tool_execution_end", "agent_settled"]);
});

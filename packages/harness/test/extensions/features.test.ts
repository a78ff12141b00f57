/** Features in real sessions: their names give way to extensions, and their commands load them. */
import { call, text } from "@tau/ai/testing";
import { Type } from "typebox";
import { describe, expect, onTestFinished, test } from "vitest";
import { oneOf, wholeNumber } from "@tau/config/fields";
import { describeSettings } from "@tau/config/internal";
import {
  group,
  setting,
  type SettingsInput,
  SettingsManager,
  settingsReference,
  settingsSchema,
} from "@tau/config/settings";
import {
  type ExtensionFactory,
  type Feature,
  type FeaturePlace,
  type FeatureTool,
  getFeatureSettings,
} from "@tau/extensions";
import { createTestSession, type TestSessionParams } from "../../src/testing/index.ts";
import type { TestTurn } from "../../src/testing/script.ts";

const tool: FeatureTool = {
  name: "plan",
  category: "coordination",
  label: "Plan",
  description: "Plan.",
  parameters: Type.Object({}),
  access: () => [],
};

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

const callPlan: TestTurn[] = [[call("plan", {})], [text("Done.")]];

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

test("one that is not offered here leaves no trace", async () => {
  const { feature, loads } = createFeature();
  const isOffered = ({ cwd }: FeaturePlace) => cwd.endsWith("elsewhere");
  const { session, prompt, model } = await open([[text("Hi.")]], { features: [{ ...feature, isOffered }] });
  await prompt("hi");
  expect(JSON.stringify(model.asked[0]!.context.tools)).not.toContain("plan");
  expect(session.describeExtensionCommands()).toEqual([]);
  expect(loads).toEqual([]);
});

test.each([
  [{ extensions: ["-builtin:plan"] }, false],
  [{ extensions: ["-builtin:plan", "+builtin:plan"] }, true],
  [{ extensions: ["-builtin:plan"], features: { plan: true } }, true],
  [{ extensions: ["-builtin:other"] }, true],
])("pi's names for parts of the program turn it off and on: %j", async (settings, isOn) => {
  const { feature } = createFeature();
  const opened = await open([], { features: [feature], settings });
  expect(opened.session.describeExtensionCommands().map(({ name }) => name)).toEqual(isOn ? ["plan"] : []);
});

test("one that opens with the session is loaded before the first prompt", async () => {
  const { feature, loads } = createFeature();
  const { session } = await open([], { features: [{ ...feature, opensWithSession: () => true }] });
  expect(loads).toEqual([1]);
  expect(session.extensions!.list.map(({ source }) => source.origin)).toEqual(["feature"]);
});

test("one that fails to open with the session is reported, and the session works", async () => {
  const { feature } = createFeature(async () => {
    throw new Error("No plan.");
  });
  const { session, prompt } = await open([[text("Hi.")]], { features: [{ ...feature, opensWithSession: () => true }] });
  expect(session.notices.map(({ message }) => message)).toContainEqual(expect.stringContaining("plan: No plan."));
  expect((await prompt("hi")).kind).toBe("ran");
});

describe("settings", () => {
  const settings = {
    plan: group("Plans.", {
      steps: setting(wholeNumber({ min: 1, unit: "steps" }), { default: 3, description: "The most steps of a plan." }),
      style: setting(oneOf("short", "long"), {
        default: "short",
        description: "How a plan is written.",
        project: "never",
      }),
    }),
  };
  const readSettings = (seen: unknown[]): Feature => ({
    ...createFeature(async () => (tau) => {
      answerWith("feature")(tau);
      tau.on("session_start", () => void seen.push(getFeatureSettings(tau, settings).plan));
    }).feature,
    settings,
    opensWithSession: () => true,
  });

  test("are those of the files, else their defaults", async () => {
    const seen: unknown[] = [];
    const feature = readSettings(seen);
    const input = { plan: { steps: 5 } } as SettingsInput;
    const manager = SettingsManager.inMemory(input, { features: [feature] });
    const first = await open([[text("Hi.")]], { features: [feature], settingsManager: manager });
    await first.prompt("hi");
    // Settings that do not know of the feature have none of it.
    const second = await open([[text("Hi.")]], { features: [feature] });
    await second.prompt("hi");
    expect(seen).toEqual([
      { steps: 5, style: "short" },
      { steps: 3, style: "short" },
    ]);
  });

  test("are checked like all others", async () => {
    const features = [{ settings }];
    const wrong = { plan: { steps: 0 } } as SettingsInput;
    expect(() => SettingsManager.inMemory(wrong, { features })).toThrow(/plan\.steps/);
    expect(() => SettingsManager.inMemory({ plan: {} } as SettingsInput)).toThrow(/no setting.*plan/i);
    const manager = SettingsManager.inMemory({}, { features });
    await expect(manager.update("project", { plan: { style: "long" } } as SettingsInput)).rejects.toThrow(
      /A project may not/,
    );
  });

  test("are in the reference, the schema and the list of the surfaces", async () => {
    const features = [{ settings }];
    expect(settingsReference(features)).toContain("## Features\n\n- `plan`: `object`");
    expect(JSON.stringify(settingsSchema(features))).toContain("The most steps of a plan.");
    expect(settingsReference()).not.toContain("The most steps of a plan.");
    const manager = SettingsManager.inMemory({ plan: { steps: 2 } } as SettingsInput, { features });
    const [global, project, run] = [manager.getGlobal(), manager.getProject(), manager.getRun()];
    const parts = { settings: manager.get(), global, project, run };
    expect(describeSettings(manager.table, parts)).toContainEqual(
      expect.objectContaining({ key: "plan.steps", value: 2, default: 3, origin: "global" }),
    );
  });
});

/**
 * The contract of every feature: nothing before it is used, nothing when it is turned off, nothing after its session.
 */
import { text } from "@tau/ai/testing";
import type { ToolCall } from "@tau/ai";
import type { ExtensionAPI, Feature } from "@tau/extensions";
import { expect, onTestFinished, test } from "vitest";
import { allFeatures } from "../src/index.ts";
import { createTestSession, type TestSessionParams } from "./kit.ts";

export interface FeatureContractCase {
  create: () => Feature;
  /** A call of one of its tools that succeeds in an empty directory. */
  call: ToolCall;
}

type Turns = Parameters<typeof createTestSession>[0];

async function open(turns: Turns, params: TestSessionParams) {
  const opened = await createTestSession(turns, params);
  onTestFinished(() => opened.dispose());
  return opened;
}

/** The feature, and what became of its code. */
function observe(feature: Feature) {
  const seen = { loads: 0, ends: 0, api: undefined as ExtensionAPI | undefined };
  const observed: Feature = {
    ...feature,
    async load() {
      seen.loads++;
      const factory = await feature.load();
      return async (tau) => {
        seen.api = tau;
        tau.on("session_shutdown", () => void seen.ends++);
        await factory(tau);
      };
    },
  };
  return { seen, features: [observed] };
}

export function featureContract({ create, call }: FeatureContractCase): void {
  const { name, summary, tools = [], commands = [] } = create();
  const names = tools.map((tool) => tool.name);

  test(`${name}: nothing is loaded before it is used, and its code is loaded once for a session`, async () => {
    const { seen, features } = observe(create());
    const turns = [[text("Hi.")], [call], [{ ...call, id: "second" }], [text("Done.")]];
    const { session, prompt } = await open(turns, { features });
    await prompt("hi");
    expect(seen.loads).toBe(0);
    expect(session.extensions).toBeUndefined();
    await prompt("go");
    expect(seen.loads).toBe(1);
    const results = session.messages.flatMap((message) => (message.role === "toolResult" ? [message] : []));
    expect(results.map(({ isError }) => isError)).toEqual([false, false]);
  });

  test(`${name}: loading changes neither the tools nor the prompt of requests`, async () => {
    const { prompt, model } = await open([[text("Hi.")], [call], [text("Done.")]], { features: [create()] });
    await prompt("hi");
    await prompt("go");
    const sent = model.asked.map(({ context }) => JSON.stringify([context.systemPrompt, context.tools]));
    expect(new Set(sent).size).toBe(1);
    for (const tool of names) expect(sent[0]).toContain(`"name":"${tool}"`);
  });

  test(`${name}: turned off, nothing of it remains`, async () => {
    const settings = { features: { [name]: false } };
    const { session, prompt, model } = await open([[text("Hi.")]], { features: [create()], settings });
    const without = await open([[text("Hi.")]], {});
    await prompt("hi");
    await without.prompt("hi");
    const describe = ({ asked }: typeof model) => JSON.stringify(asked[0]!.context.tools);
    expect(describe(model)).toBe(describe(without.model));
    expect(session.describeExtensionCommands()).toEqual([]);
  });

  test(`${name}: it ends with its session, and a reload keeps it`, async () => {
    const { seen, features } = observe(create());
    const opened = await open([[call], [text("Done.")], [{ ...call, id: "second" }], [text("Done.")]], { features });
    await opened.prompt("go");
    await opened.session.reload();
    expect(seen.ends).toBe(1);
    await opened.prompt("again");
    expect(seen.loads).toBe(1);
    await opened.session.dispose();
    expect(seen.ends).toBe(2);
    expect(() => seen.api!.getActiveTools()).toThrow(/stale/);
  });

  test(`${name}: what it describes is what it registers, and no name is taken`, async () => {
    const { seen, features } = observe(create());
    const { session, prompt } = await open([[call], [text("Done.")]], { features });
    await prompt("go");
    expect(seen.loads).toBe(1);
    const own = session.extensions!.list.find(({ source }) => source.origin === "feature")!;
    expect([...own.tools.keys()].toSorted()).toEqual(names.toSorted());
    expect([...own.commands.keys()].toSorted()).toEqual(commands.map((command) => command.name).toSorted());
    expect(summary).toMatch(/^[A-Z].*\.$/);
    const others = allFeatures.filter((feature) => feature.name !== name);
    const taken = [...others.flatMap((feature) => feature.tools ?? []), ...(await open([], {})).session.knownTools];
    for (const tool of names) expect(taken.map((other) => other.name)).not.toContain(tool);
  });
}

/** A virtual model chooses another model for each request. Real servers answer. */
import { join } from "node:path";
import { call } from "@tau/ai/testing";
import type { ExtensionFactory, ModelRouteRequest, VirtualModel } from "@tau/extensions";
import { SessionManager } from "@tau/harness";
import type { SettingsInput } from "@tau/config/settings";
import { expect, test } from "vitest";
import { answers, openWireDesk, refuses, type WireDesk } from "./wire-desk.ts";

type Route = VirtualModel["route"];

async function open(
  desk: WireDesk,
  route: Route,
  more: { settings?: SettingsInput; levels?: VirtualModel["thinkingLevels"] } = {},
) {
  const asked: ModelRouteRequest[] = [];
  const factory: ExtensionFactory = (tau) => {
    tau.registerVirtualModel({
      provider: "router",
      id: "auto",
      name: "Auto",
      ...(more.levels && { thinkingLevels: more.levels }),
      route(request, ctx) {
        asked.push(request);
        return route(request, ctx);
      },
    });
  };
  const opened = await desk.open(more.settings ?? {}, { model: "router/auto", extensions: { factories: [factory] } });
  return { ...opened, asked, factory };
}

async function say(session: { prompt(text: string): Promise<unknown> }, words = "Hi"): Promise<string> {
  const outcome = (await session.prompt(words)) as {
    failure?: { message: string };
    answer?: { content: readonly { text?: string }[] };
  };
  return outcome.failure?.message ?? outcome.answer?.content.map((block) => block.text ?? "").join("") ?? "";
}

const callsLs = { kind: "answer" as const, answer: { content: [call("ls", { path: "." })] } };

test("each request goes to the model that was chosen for it, and the selection stays", async () => {
  const desk = await openWireDesk({ one: [callsLs], two: [answers("From two.")] });
  const { session, asked, uses } = await open(desk, ({ reason }, ctx) => ({
    model: ctx.modelRegistry.find(reason === "user" ? "one" : "two", "m")!,
    thinkingLevel: "off",
  }));
  expect(await say(session)).toBe("From two.");
  expect(asked.map(({ reason }) => reason)).toEqual(["user", "continuation"]);
  expect(asked[1]).toMatchObject({
    model: { provider: "router", id: "auto" },
    previous: { model: { provider: "one" } },
  });
  expect(asked[0]!.messages.map(({ role }) => role as string)).toEqual(["system", "user"]);
  expect(uses()).toEqual(["route one/m", "route two/m"]);
  expect(session.model).toMatchObject({ provider: "router", id: "auto" });
  const entries = await session.sessionManager.getEntries();
  const all = entries.flatMap((entry) =>
    entry.type === "message" && entry.message.role === "assistant" ? [entry] : [],
  );
  expect(all.map(({ message, selected }) => [(message as { provider: string }).provider, selected?.provider])).toEqual([
    ["one", "router"],
    ["two", "router"],
  ]);
  expect(entries.filter(({ type }) => type === "model_change")).toMatchObject([
    { provider: "router", modelId: "auto" },
  ]);
});

test("a retry is routed with what failed, and chains do not apply", async () => {
  const desk = await openWireDesk({ one: [refuses(529)], three: [answers("From three.")] });
  const { session, asked } = await open(
    desk,
    ({ failed }, ctx) => ({ model: ctx.modelRegistry.find(failed ? "three" : "one", "m")!, thinkingLevel: "off" }),
    { settings: { retry: { fallbackChains: { "one/*": ["two/m"], "router/*": ["two/m"] } } } },
  );
  expect(await say(session)).toBe("From three.");
  expect(asked[1]).toMatchObject({
    reason: "retry",
    failed: { model: { provider: "one" }, message: { stopReason: "error", provider: "one" } },
  });
  expect(desk.servers["two"]!.requests).toHaveLength(0);
});

test("all requests of a virtual model together are as many as retries allow", async () => {
  const desk = await openWireDesk({ one: Array(9).fill(refuses(529)), two: Array(9).fill(refuses(529)) });
  let count = 0;
  const { session } = await open(
    desk,
    (_request, ctx) => ({
      model: ctx.modelRegistry.find(count++ % 2 === 0 ? "one" : "two", "m")!,
      thinkingLevel: "off",
    }),
    { settings: { retry: { maxRetries: 3 } } },
  );
  await say(session);
  expect(desk.servers["one"]!.requests.length + desk.servers["two"]!.requests.length).toBe(4);
});

test.each<[why: string, route: Route, message: RegExp, settings: SettingsInput]>([
  [
    "throws",
    () => {
      throw new Error("No idea");
    },
    /router\/auto did not choose a model: No idea\./,
    {},
  ],
  ["returns nothing", () => undefined as never, /its answer has no model/, {}],
  ["names a virtual model", ({ model }) => ({ model, thinkingLevel: "off" }), /router\/auto is virtual too/, {}],
  [
    "names no known model",
    () => ({ model: { provider: "x", id: "y" } as never, thinkingLevel: "off" }),
    /no model x\/y/,
    {},
  ],
  [
    "names a model without a key",
    (_request, ctx) => ({
      model: ctx.modelRegistry.getAll().find(({ provider }) => provider === "cerebras")!,
      thinkingLevel: "off",
    }),
    /no key for cerebras/,
    {},
  ],
  [
    "names an excluded model",
    (_request, ctx) => ({ model: ctx.modelRegistry.find("one", "m")!, thinkingLevel: "off" }),
    /one\/m is not one of the models to choose from/,
    { enabledModels: ["two/*", "router/*"] },
  ],
])("a route that %s ends the request with an error", async (_why, route, message, settings) => {
  const desk = await openWireDesk({});
  const { session } = await open(desk, route, { settings });
  expect(await say(session)).toMatch(message);
  for (const { requests } of Object.values(desk.servers)) expect(requests).toHaveLength(0);
});

test("a route has ten seconds", async () => {
  const desk = await openWireDesk({});
  const { session, asked } = await open(desk, () => new Promise<never>(() => {}));
  const saying = say(session);
  await expect.poll(() => asked.length).toBe(1);
  await desk.clock.advance(10_000);
  expect(await saying).toContain("it took more than 10 seconds");
});

test("an abort ends the wait for a route", async () => {
  const desk = await openWireDesk({});
  const { session, asked } = await open(desk, () => new Promise<never>(() => {}));
  const saying = session.prompt("Hi");
  await expect.poll(() => asked.length).toBe(1);
  await session.abort();
  expect(await saying).toMatchObject({ end: { kind: "aborted" } });
});

test("state is given back, follows branches, and is written only when it changes", async () => {
  const desk = await openWireDesk({ one: Array(6).fill(answers("Yes.")) });
  const { session, asked } = await open(desk, ({ state }, ctx) => {
    const count = (state as { count: number } | undefined)?.count ?? 0;
    const next = count < 2 ? { count: count + 1 } : state;
    return { model: ctx.modelRegistry.find("one", "m")!, thinkingLevel: "off", state: next };
  });
  for (const words of ["a", "b", "c"]) await say(session, words);
  expect(asked.map(({ state }) => state)).toEqual([undefined, { count: 1 }, { count: 2 }]);
  const entries = await session.sessionManager.getEntries();
  const states = entries.filter((entry) => entry.type === "custom" && entry.customType === "pi.virtual-model-state");
  expect(states).toMatchObject([
    { data: { provider: "router", modelId: "auto", state: { count: 1 } } },
    { data: { provider: "router", modelId: "auto", state: { count: 2 } } },
  ]);
  const firstAnswer = entries.find((entry) => entry.type === "message" && entry.message.role === "assistant")!;
  await session.navigate(firstAnswer.id);
  await say(session, "d");
  expect(asked.at(-1)!.state).toEqual({ count: 1 });
});

test("state that is not JSON ends the request with an error", async () => {
  const desk = await openWireDesk({});
  const { session } = await open(desk, (_request, ctx) => ({
    model: ctx.modelRegistry.find("one", "m")!,
    thinkingLevel: "off",
    state: { big: 1n },
  }));
  expect(await say(session)).toContain("did not choose a model");
});

test("the levels of the virtual model are those that it registered, and another level may be used", async () => {
  const desk = await openWireDesk({ one: [answers("Yes.")] });
  const { session, asked } = await open(
    desk,
    (_request, ctx) => ({ model: ctx.modelRegistry.find("one", "m")!, thinkingLevel: "max" }),
    { levels: ["low", "high"] },
  );
  await session.setThinkingLevel("high");
  await say(session);
  expect(asked[0]!.thinkingLevel).toBe("high");
  expect(session.modelUse).toMatchObject({ cause: "route", thinkingLevel: "off" });
});

test("a summary is routed as a request of its own", async () => {
  const desk = await openWireDesk({ one: [answers("A long answer."), answers("A summary."), answers("A summary.")] });
  const { session, asked } = await open(desk, (_request, ctx) => ({
    model: ctx.modelRegistry.find("one", "m")!,
    thinkingLevel: "off",
  }));
  await say(session);
  const user = (await session.sessionManager.getEntries()).find((entry) => entry.type === "message")!;
  await session.navigate(user.parentId!, { summarise: true });
  expect(asked.map(({ reason }) => reason)).toEqual(["user", "direct"]);
  expect(asked[1]!.state).toBeUndefined();
});

test("a session that is opened again has the virtual model", async () => {
  const desk = await openWireDesk({ one: [answers("First."), answers("Second.")] });
  const route: Route = (_request, ctx) => ({ model: ctx.modelRegistry.find("one", "m")!, thinkingLevel: "off" });
  const factory: ExtensionFactory = (tau) =>
    tau.registerVirtualModel({ provider: "router", id: "auto", name: "Auto", route });
  const extensions = { factories: [factory] };
  const manager = await SessionManager.create(desk.agentDir, join(desk.agentDir, "sessions"));
  const first = await desk.open({}, { sessionManager: manager, model: "router/auto", extensions });
  await say(first.session);
  const file = first.session.sessionFile!;
  await first.session.dispose();
  const second = await desk.open({}, { sessionManager: await SessionManager.open(file), extensions });
  expect(second.session.model).toMatchObject({ provider: "router", id: "auto" });
  expect(await say(second.session)).toBe("Second.");
  await second.session.dispose();
  const without = await desk.open({}, { sessionManager: await SessionManager.open(file) });
  expect(without.session.model).toMatchObject({ provider: "one", id: "m" });
});

test("a virtual model is listed until it is removed, and may not have the name of another model", async () => {
  const desk = await openWireDesk({ one: [answers("Yes.")] });
  const route: Route = (_request, ctx) => ({ model: ctx.modelRegistry.find("one", "m")!, thinkingLevel: "off" });
  const { session } = await desk.open(
    {},
    {
      model: "one/m",
      extensions: {
        factories: [
          (tau) => {
            tau.registerVirtualModel({ provider: "one", id: "m", name: "Taken", route });
            tau.registerVirtualModel({ provider: "one", id: "auto", name: "Auto", route });
            tau.registerCommand("remove", { handler: async () => tau.unregisterVirtualModel("one", "auto") });
          },
        ],
      },
    },
  );
  const list = () =>
    session.modelRegistry
      .getAvailable()
      .flatMap(({ provider, id, name }) => (provider === "one" ? `${id} ${name}` : []));
  expect(list().toSorted()).toEqual(["auto Auto", "m m"]);
  expect(session.notices.map(({ message }) => message).join()).toContain(
    "one/m, but the provider has a model of this name",
  );
  await session.prompt("/remove");
  expect(list()).toEqual(["m m"]);
});

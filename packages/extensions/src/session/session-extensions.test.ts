import { createFakeClock } from "@tau/ai/testing";
import { expect, test } from "vitest";
import { createPorts } from "../../test/ports.ts";
import type { ExtensionFactory } from "../api/api.ts";
import { createEventBus } from "../runner/create-api.ts";
import { createLifetime } from "../runner/create-context.ts";
import type { Extension, ExtensionSource } from "../api/extension.ts";
import { startExtension } from "../load/start-extension.ts";
import { noUi } from "../api/ui.ts";
import { ChangedInputs } from "./changed-inputs.ts";
import { type LoadedExtensions, SessionExtensions } from "./session-extensions.ts";

async function start(name: string, factory: ExtensionFactory): Promise<Extension> {
  const info = { path: name, source: "inline", scope: "temporary", origin: "top-level" } as const;
  const source: ExtensionSource = { id: name, name, path: name, origin: "inline", digest: "", info };
  const { ports } = createPorts();
  const outcome = await startExtension(source, factory, { ...ports, report: () => {} });
  if (outcome.kind === "failed") throw new Error(outcome.message);
  return outcome.extension;
}

function open(extensions: readonly Extension[], changes: Partial<LoadedExtensions> = {}) {
  const isClosed = { providers: false };
  const clock = createFakeClock();
  const reported: string[] = [];
  const session = new SessionExtensions({
    loaded: {
      extensions,
      idle: [],
      problems: [],
      lifetime: createLifetime(),
      providers: {
        configs: new Map(),
        register: () => {},
        unregister: () => {},
        isIsolated: () => false,
        registerIsolated: () => {},
        unregisterIsolated: () => {},
        setVirtualModels: () => {},
        settle: async () => {},
        close: () => void (isClosed.providers = true),
      },
      changed: new ChangedInputs({} as never),
      events: createEventBus(),
      bind: () => {},
      add: () => Promise.reject(new Error("No feature is added here.")),
      writeEarlyDecisions: async () => {},
      ...changes,
    },
    clock,
    report: ({ message }) => void reported.push(message),
    start: { reason: "startup" },
    setResources: async () => {},
    features: { tools: ["plan"], commands: ["plan", "list"], isTemplate: () => false },
    getAnswerMs: () => 20_000,
  });
  return { session, isClosed, reported, clock };
}

test("a start that failed is tried again, and tells the extensions once", async () => {
  const told: string[] = [];
  const extension = await start("one", (tau) => void tau.on("session_start", ({ reason }) => void told.push(reason)));
  let isFull = true;
  const writeEarlyDecisions = async () => {
    if (isFull) throw new Error("The disk is full.");
  };
  const { session } = open([extension], { writeEarlyDecisions });
  session.bind({ cwd: "/", ui: noUi, replace: {} } as never, () => {});
  await expect(session.start()).rejects.toThrow("The disk is full.");
  expect(session.isStarted).toBe(false);
  isFull = false;
  await session.start();
  await session.start();
  expect(told).toEqual(["startup"]);
});

test("all extensions of a session that could not be opened are closed, also when one of them fails", async () => {
  const closed: string[] = [];
  const create = async (name: string, close: () => Promise<void>) => ({ ...(await start(name, () => {})), close });
  const broken = await create("broken", async () => {
    throw new Error("It does not end.");
  });
  const other = await create("other", async () => void closed.push("other"));
  const { session, isClosed } = open([broken, other]);
  await expect(session.abandon()).rejects.toThrow("It does not end.");
  expect([closed, isClosed.providers]).toEqual([["other"], true]);
});

const planTool = {
  name: "plan",
  label: "Plan",
  description: "",
  parameters: {},
  execute: async () => ({ content: [], details: {} }),
};

interface Owner {
  origin?: "project";
  host?: "isolated";
}

test.each<[what: string, owner: Owner, answer: boolean, isUsed: boolean, isAsked: boolean]>([
  ["of the user", {}, false, true, false],
  ["of a project, allowed", { origin: "project" }, true, true, true],
  ["of a project, denied or unattended", { origin: "project" }, false, false, true],
  ["isolated, allowed", { host: "isolated" }, true, true, true],
  ["isolated, denied or unattended", { host: "isolated" }, false, false, true],
])(
  "an extension %s replaces the tool of a feature after the question that it needs",
  async (_what, { origin, host }, answer, isUsed, isAsked) => {
    const started = await start("other", (tau) => {
      tau.registerTool(planTool);
      tau.registerTool({ ...planTool, name: "own" });
    });
    const source = { ...started.source, ...(origin && { origin }) };
    const { session, reported } = open([{ ...started, source, ...(host && { host }) }]);
    session.bind({ cwd: "/", ui: noUi, replace: {}, refreshTools: () => {} } as never, () => {});
    const rules = { mode: "auto", names: [], canSearch: false } as const;
    const listTools = () => session.listTools(rules).listed.map(({ name }) => name);
    // Before anybody was asked, the feature keeps its name.
    expect(listTools()).toEqual(isAsked ? ["own"] : ["plan", "own"]);
    const asked: string[] = [];
    const confirm = async (title: string) => {
      asked.push(title);
      return answer;
    };
    await session.attach({ mode: "rpc", builtIns: { commands: [], keys: new Map() }, ui: { ...noUi, confirm } });
    expect(asked).toEqual(isAsked ? ["Replace the tool plan?"] : []);
    expect(listTools()).toEqual(isUsed ? ["plan", "own"] : ["own"]);
    expect(session.replaced).toEqual(isUsed ? [{ kind: "tool", name: "plan", by: "other" }] : []);
    expect(reported).toEqual(isUsed ? [] : ["Its tool plan is not used: tau has one of that name."]);
  },
);

test("tools, commands and flags that extensions use instead of tau's are listed, and others are not", async () => {
  const other = await start("other", (tau) => {
    for (const name of ["bash", "own"]) tau.registerTool({ ...planTool, name });
    for (const name of ["tools", "list", "model", "own"]) tau.registerCommand(name, { handler: async () => {} });
    for (const name of ["fast", "own"]) tau.registerFlag(name, { type: "boolean" });
  });
  const feature = await start("plan", (tau) => {
    tau.registerTool(planTool);
    tau.registerCommand("plan", { handler: async () => {} });
    for (const name of ["fast", "deep"]) tau.registerFlag(name, { type: "boolean" });
  });
  const source = { ...feature.source, origin: "feature" as const };
  const { session } = open([other, { ...feature, source }]);
  expect(session.replaced.map(({ kind, name, by }) => `${by}: ${kind} ${name}`)).toEqual([
    "other: tool bash",
    "other: command tools",
    "other: command list",
    "other: flag fast",
  ]);
});

test("the surface shows who is waited for, until the time of the settings is over", async () => {
  const extension = await start("slow", (tau) => void tau.on("context", () => new Promise(() => {})));
  const { session, clock, reported } = open([extension]);
  session.bind({ cwd: "/", ui: noUi, getSignal: () => undefined } as never, () => {});
  const shown: (string | undefined)[] = [];
  const setStatus = (key: string, text: string | undefined) => void shown.push(`${key}: ${text}`);
  await session.attach({ ui: { ...noUi, setStatus } } as never);
  const asked = session.emit({ type: "context", messages: [] });
  for (let step = 0; step < 4; step++) await clock.advance(5_000);
  await asked;
  expect(shown).toEqual(["tau.waiting: waiting for slow", "tau.waiting: undefined"]);
  expect(reported).toEqual(["Its handler of context failed: it took more than 20 seconds"]);
});

/** The extensions below `examples/` in processes of their own: what of them works without trust, and what they say about the rest. */
import { cpSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { systemClock } from "@tau/ai";
import { describe, expect, onTestFinished, test } from "vitest";
import { AuthStorage } from "@tau/config/auth";
import { type LoadedExtension as Extension, createProviders, registerProviders } from "@tau/extensions";
import { ModelRegistry } from "@tau/config/models";
import { createTestSession } from "../../src/testing/index.ts";
import {
  createPlace,
  createSource,
  type HostOptions,
  canIsolate,
  load,
} from "../../../extensions/test/isolated/kit.ts";

const examples = join(import.meta.dirname, "../../../../examples/extensions");
const names = readdirSync(examples);

async function loadExample(name: string, session: HostOptions["session"] = {}) {
  const place = createPlace();
  const path = join(examples, name);
  const isDirectory = statSync(path).isDirectory();
  const source = createSource(place, isDirectory ? "" : readFileSync(path, "utf8"));
  if (isDirectory) cpSync(path, dirname(source.path), { recursive: true });
  return await load("", { place, source, session });
}

const describeRegistrations = ({ handlers, tools, commands, shortcuts, flags }: Extension) =>
  [handlers, tools, commands, shortcuts, flags].map((map) => [...map.keys()].toSorted());

/** Messages of the examples that have one when they are loaded and registered. */
const sayings: Readonly<Record<string, string>> = {
  "bar-chart.ts": "This needs trust: the renderer of its tool bar_chart.",
  "custom-provider.ts": "Its provider lab takes a value from a variable or a command, which needs trust.",
};

const noContext = {} as never;

const openProviders = () =>
  createProviders({
    registry: ModelRegistry.inMemory(),
    auth: AuthStorage.inMemory(),
    clock: systemClock,
    report: () => {},
  });

describe.runIf(canIsolate)("isolated", () => {
  test.each(names)("%s registers the same as in process", async (name) => {
    const { session, dispose } = await createTestSession([], { extensions: { paths: [join(examples, name)] } });
    onTestFinished(() => dispose());
    const [inProcess] = session.extensions?.list ?? [];
    const { extension, problems } = await loadExample(name);
    expect(describeRegistrations(extension)).toEqual(describeRegistrations(inProcess!));
    const inProviders = registerProviders([extension], openProviders());
    const said = [...problems, ...inProviders].map(({ message }) => message).join("\n");
    if (sayings[name] === undefined) expect(said).toBe("");
    else expect(said).toContain(sayings[name]);
  });

  test("the permission gate asks and blocks, and the to-do list is kept and shown", async () => {
    const gate = await loadExample("permission-gate.ts");
    const event = { type: "tool_call", toolCallId: "1", toolName: "bash", input: { command: "rm -rf old" } } as const;
    const [handler] = gate.extension.handlers.get("tool_call")!;
    expect(await handler!(event, noContext)).toMatchObject({ block: true });
    expect(gate.asked[0]?.slice(0, 2)).toEqual(["select", "This command deletes directories:\nrm -rf old"]);
    const list = await loadExample("todo-list.ts");
    const todo = list.extension.tools.get("todo")!;
    const result = await todo.execute("1", { action: "add", text: "Read" }, undefined, undefined, noContext);
    expect(result.content).toEqual([{ type: "text", text: "○ 1. Read" }]);
    await expect.poll(() => list.asked.map(([name]) => name)).toContain("setWidget");
  });

  test("a checkpoint needs a policy that lets it run git, and a side task needs trust", async () => {
    const checkpoint = await loadExample("git-checkpoint.ts");
    const [handler] = checkpoint.extension.handlers.get("before_agent_start")!;
    const event = { type: "before_agent_start", messageType: "user", prompt: "Go." } as never;
    await expect(handler!(event, noContext)).rejects.toThrow(/exec/);
    expect(checkpoint.denied()).toEqual(["exec:capability:deny_caps"]);
    const reader = { getSessionFile: () => "/sessions/one.jsonl" } as never;
    const side = await loadExample("side-task.ts", { reader, waitForIdle: async () => {} });
    await expect(side.extension.commands.get("side")!.handler("Count.", noContext)).rejects.toThrow(/needs trust/);
  });
});

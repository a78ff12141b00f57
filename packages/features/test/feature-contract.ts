/**
 * The contract of every feature: nothing before it is used, nothing when it is turned off, nothing after its session.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { scriptedModel, text } from "@tau/ai/testing";
import { SettingsManager } from "@tau/config/settings";
import { createAgentSession } from "@tau/harness";
import { build } from "esbuild";
import type { ToolCall } from "@tau/ai";
import type { ExtensionAPI, Feature } from "@tau/extensions";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { allFeatures } from "../src/index.ts";
import { createTestSession, type TestSessionParams } from "./kit.ts";

export interface FeatureContractCase {
  create: () => Feature;
  /** A call of one of its tools that succeeds in a directory with `files`. Undefined: there it has no tools. */
  call?: ToolCall;
  /** Contents of files by their names. Default: none. */
  files?: Readonly<Record<string, string>>;
  /** Features without which it has nothing to do. Default: none. */
  beside?: readonly Feature[];
  /** Parameters of sessions in which requests list its tools. Default: any. */
  params?: Pick<TestSessionParams, "planMode" | "defaultTools">;
}

type Turns = Parameters<typeof createTestSession>[0];

async function openSession(turns: Turns, params: TestSessionParams) {
  const opened = await createTestSession(turns, params);
  onTestFinished(() => opened.dispose());
  return opened;
}

/** The feature, and what became of its code. */
function observe(feature: Feature, beside: readonly Feature[]) {
  const seen = { loads: 0, ends: 0, api: undefined as ExtensionAPI | undefined };
  const observed: Feature = {
    ...feature,
    async load(place) {
      seen.loads++;
      const factory = await feature.load(place);
      return async (tau) => {
        seen.api = tau;
        tau.on("session_shutdown", () => void seen.ends++);
        await factory(tau);
      };
    },
  };
  return { seen, features: [observed, ...beside] };
}

/**
 * Builds the program that calls a tool of a feature in a session on disk, says so, and stays. Its argument has the call, the
 * names of the features and the parameters of the session. All features share it.
 */
async function buildProgram(): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "tau-feature-program-")));
  await symlink(join(import.meta.dirname, "../../../node_modules"), join(directory, "node_modules"));
  const outfile = join(directory, "program.mjs");
  const contents = `
    import { scriptedModel, text } from "@tau/ai/testing";
    import { createAgentSession } from "@tau/harness";
    import { allFeatures } from "../src/index.ts";
    import { weather } from "./found-tools.ts";
    const { names, call, params } = JSON.parse(process.argv[2]);
    const session = await createAgentSession({
      ...params,
      model: scriptedModel([[call], [text("Done.")]]),
      features: [...allFeatures.filter(({ name }) => names.includes(name)), weather()],
    });
    await session.prompt("go");
    console.log(session.sessionId);
    setInterval(() => {}, 1_000);
  `;
  await build({
    stdin: { resolveDir: import.meta.dirname, loader: "ts", contents },
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    conditions: ["@tau/source"],
    external: ["google-auth-library", "@silvia-odwyer/photon-node", "@vscode/ripgrep", "@napi-rs/keyring"],
    logLevel: "error",
  });
  return outfile;
}

let program: Promise<string> | undefined;
afterAll(async () => {
  if (program) await rm(dirname(await program), { recursive: true, force: true });
});

/** Starts the program, in directories of its own, and waits until it has called the tool. */
async function startProcess(
  names: readonly string[],
  call: ToolCall,
  { params, files }: { params: object; files: Readonly<Record<string, string>> },
) {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "tau-feature-")));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const [cwd, agentDir] = [join(directory, "work"), join(directory, "agent")];
  await mkdir(cwd);
  for (const [name, content] of Object.entries(files)) await writeFile(join(cwd, name), content);
  program ??= buildProgram();
  const argument = JSON.stringify({ names, call, params: { ...params, cwd, agentDir } });
  const child = spawn(process.execPath, [await program, argument], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = (await Promise.race([once(child.stdout, "data"), once(child, "exit")])) as [unknown];
  return { child, cwd, agentDir, sessionId: String(line).trim() };
}

interface ProcessRow {
  pid: number;
  parent: number;
}

function listProcesses(): ProcessRow[] {
  const { stdout } = spawnSync("ps", ["-eo", "pid=,ppid=,stat="], { encoding: "utf8" });
  const rows = stdout.split("\n").map((line) => line.trim().split(/\s+/));
  return rows.flatMap(([pid, parent, stat = ""]) =>
    stat === "" || stat.startsWith("Z") ? [] : [{ pid: Number(pid), parent: Number(parent) }],
  );
}

/** The processes that a process has started, and those that they have. */
function findDescendants(root: number, rows = listProcesses()): number[] {
  const children = rows.filter(({ parent }) => parent === root).map(({ pid }) => pid);
  return children.flatMap((pid) => [pid, ...findDescendants(pid, rows)]);
}

export function featureContract({ create, call, files = {}, beside = [], params = {} }: FeatureContractCase): void {
  const { name, summary, tools = [], commands = [], loadsIn = [] } = create();
  const loadsAtOnce = params.planMode === true && loadsIn.includes("plan");
  const open = (turns: Turns, more: TestSessionParams) => openSession(turns, { ...params, files, ...more });
  const names = tools.map((tool) => tool.name);
  const listed = tools.flatMap((tool) => ((tool.exposure ?? "direct") === "direct" ? [tool.name] : []));

  test(`${name}: turned off, nothing of it remains`, async () => {
    const settings = { features: { [name]: false } };
    const { session, prompt, model } = await open([[text("Hi.")]], { features: [create(), ...beside], settings });
    const without = await open([[text("Hi.")]], { features: beside });
    await prompt("hi");
    await without.prompt("hi");
    const describe = ({ asked }: typeof model) => JSON.stringify(asked[0]!.context.tools);
    expect(describe(model)).toBe(describe(without.model));
    expect(session.describeExtensionCommands()).toEqual([]);
  });

  if (!call) return;

  test(`${name}: nothing is loaded before it is used, and its code is loaded once for a session`, async () => {
    const { seen, features } = observe(create(), beside);
    const turns = [[text("Hi.")], [call], [{ ...call, id: "second" }], [text("Done.")]];
    const { session, prompt } = await open(turns, { features });
    await prompt("hi");
    expect(seen.loads).toBe(loadsAtOnce ? 1 : 0);
    expect(session.extensions === undefined).toBe(!loadsAtOnce);
    await prompt("go");
    expect(seen.loads).toBe(1);
    const results = session.messages.flatMap((message) => (message.role === "toolResult" ? [message] : []));
    expect(results.map(({ isError }) => isError)).toEqual([false, false]);
  });

  test(`${name}: loading changes neither the tools nor the prompt of requests`, async () => {
    const { prompt, model } = await open([[text("Hi.")], [call], [text("Done.")]], { features: [create(), ...beside] });
    await prompt("hi");
    await prompt("go");
    const sent = model.asked.map(({ context }) => JSON.stringify([context.systemPrompt, context.tools]));
    expect(new Set(sent).size).toBe(1);
    for (const tool of listed) expect(sent[0]).toContain(`"name":"${tool}"`);
  });

  test(`${name}: it ends with its session, and a reload keeps it`, async () => {
    const { seen, features } = observe(create(), beside);
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
    const { seen, features } = observe(create(), beside);
    const { session, prompt } = await open([[call], [text("Done.")]], { features });
    await prompt("go");
    expect(seen.loads).toBe(1);
    const own = session.extensions!.list.find(({ source }) => source.origin === "feature" && source.name === name)!;
    expect([...own.tools.keys()].toSorted()).toEqual(names.toSorted());
    expect([...own.commands.keys()].toSorted()).toEqual(commands.map((command) => command.name).toSorted());
    expect(summary).toMatch(/^[A-Z].*\.$/);
    const others = allFeatures.filter((feature) => feature.name !== name);
    const taken = [...others.flatMap((feature) => feature.tools ?? []), ...(await open([], {})).session.knownTools];
    for (const tool of names) expect(taken.map((other) => other.name)).not.toContain(tool);
  });

  test(`${name}: killed, it leaves no process, and its session opens again`, async () => {
    const { child, cwd, agentDir, sessionId } = await startProcess(
      [name, ...beside.map((feature) => feature.name)],
      call,
      { params, files },
    );
    const started = findDescendants(child.pid!);
    child.kill("SIGKILL");
    await once(child, "exit");
    const findLeft = () => listProcesses().filter(({ pid }) => started.includes(pid));
    await expect.poll(findLeft, { timeout: 20_000 }).toEqual([]);
    const session = await createAgentSession({
      ...params,
      cwd,
      agentDir,
      sessionId,
      model: scriptedModel([[text("Again.")]]),
      features: [create(), ...beside],
      settingsManager: SettingsManager.inMemory(),
    });
    onTestFinished(() => session.dispose());
    const results = session.messages.flatMap((message) => (message.role === "toolResult" ? [message] : []));
    expect(results).toMatchObject([{ toolName: call.name, isError: false }]);
    await session.prompt("again");
    expect(session.messages.at(-1)).toMatchObject({ content: [{ text: "Again." }] });
  });
}

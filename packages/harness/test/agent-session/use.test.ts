/** A session reads nothing of the machine unless the program says so. */
import { existsSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type AI, complete, completeSimple, stream, streamSimple } from "@tau/ai";
import { call, scriptedModel, text } from "@tau/ai/testing";
import type { Answer } from "@tau/policy";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import {
  type AgentSessionParams,
  AuthStorage,
  createAgent,
  createAgentSession,
  SessionManager,
  SettingsManager,
} from "../../src/index.ts";
import { createHost } from "../../src/host/index.ts";
import { temporaryDirectory } from "./desk.ts";

const userKey = "stored-key-0123456789";
let home: string;
let agentDir: string;
let cwd: string;

const files = {
  "home/.tau/settings.json": JSON.stringify({ defaultThinkingLevel: "high", defaultProjectTrust: "always" }),
  "home/.tau/auth.json": JSON.stringify({ mistral: { type: "api_key", key: userKey } }),
  "home/.tau/SYSTEM.md": "The user's prompt.",
  "home/.tau/AGENTS.md": "The user's instructions.",
  "home/.tau/skills/mine/SKILL.md": "---\nname: mine\ndescription: Mine.\n---\n",
  "home/.agents/skills/shared/SKILL.md": "---\nname: shared\ndescription: Shared.\n---\n",
  "work/AGENTS.md": "The project's instructions.",
  "work/.tau/settings.json": JSON.stringify({ retry: { maxRetries: 7 } }),
  "work/.tau/skills/ours/SKILL.md": "---\nname: ours\ndescription: Ours.\n---\n",
};

beforeEach(async () => {
  const root = await temporaryDirectory();
  home = join(root, "home");
  agentDir = join(home, ".tau");
  cwd = join(root, "work");
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), content);
  }
  vi.stubEnv("HOME", home);
  vi.stubEnv("TAU_DIR", undefined);
  vi.stubEnv("MISTRAL_API_KEY", "env-key-0123456789");
  onTestFinished(() => void vi.unstubAllEnvs());
});

async function open(params: AgentSessionParams = {}, turns: Parameters<typeof scriptedModel>[0] = []) {
  const model = scriptedModel(turns);
  const session = await createAgentSession({ cwd, model, ...params });
  onTestFinished(async () => {
    await session.dispose();
    model.dispose();
  });
  return { session, model };
}

/** Describes which files of the user and of the project a session has read. */
async function describe(params: AgentSessionParams) {
  const { session } = await open(params);
  const { resources } = session.resourceLoader;
  const key = await session.authStorage.getApiKey("mistral");
  return {
    user: session.settings.defaultThinkingLevel === "high",
    project: session.settings.retry.maxRetries === 7,
    key: key.kind === "found" ? key.key : key.kind,
    prompt: resources.systemPrompt?.content,
    context: resources.contextFiles.map(({ path }) => path.replace(dirname(home), "")),
    skills: resources.skills.map(({ name }) => name).toSorted(),
    isFile: session.sessionFile !== undefined,
    notices: session.notices.map(({ code }) => code),
  };
}

const nothing = {
  user: false,
  project: false,
  key: "env-key-0123456789",
  prompt: undefined,
  context: [],
  skills: [],
  isFile: false,
  notices: [],
};
const ofUser = {
  user: true,
  key: userKey,
  prompt: "The user's prompt.",
  context: ["/home/.tau/AGENTS.md"],
  skills: ["mine", "shared"],
  isFile: true,
};

test("a session reads what the program says, and nothing otherwise", async () => {
  expect(await describe({})).toEqual({ ...nothing, notices: ["use"] });
  expect(await describe({ use: [] })).toEqual(nothing);
  expect(await describe({ use: ["user"] })).toEqual({ ...nothing, ...ofUser });
  // Whether the project is trusted is stored among the user's files: a notice names what is ignored.
  expect(await describe({ use: ["project"] })).toEqual({
    ...nothing,
    project: true,
    context: ["/work/AGENTS.md"],
    notices: ["resources"],
  });
  expect(await describe({ use: ["user", "project"] })).toEqual({
    ...nothing,
    ...ofUser,
    project: true,
    context: ["/home/.tau/AGENTS.md", "/work/AGENTS.md"],
    skills: ["mine", "ours", "shared"],
  });
});

test("what is named is read, and nothing else", async () => {
  expect(await describe({ agentDir })).toEqual({ ...nothing, ...ofUser });
  expect(await describe({ agentDir, use: [] })).toEqual({ ...nothing, ...ofUser });
  const authStorage = AuthStorage.create(agentDir);
  expect(await describe({ authStorage })).toEqual({ ...nothing, key: userKey });
  const settingsManager = await SettingsManager.create(cwd, agentDir, { watch: false });
  expect(await describe({ settingsManager })).toEqual({ ...nothing, user: true, project: true });
  const sessionDir = join(home, "logs");
  expect(await describe({ settingsManager: SettingsManager.inMemory({ sessionDir }) })).toEqual({
    ...nothing,
    isFile: true,
  });
  expect(await describe({ sessionManager: SessionManager.inMemory(cwd) })).toEqual(nothing);
  expect(await describe({ sessionManager: SessionManager.create(cwd, sessionDir) })).toEqual({
    ...nothing,
    isFile: true,
  });
  expect(await describe({ use: [], resources: { skillPaths: [join(agentDir, "skills")] } })).toEqual({
    ...nothing,
    skills: ["mine"],
  });
});

test("an id alone names one of the user's sessions", async () => {
  const { session: first } = await open({ use: ["user"] }, [[text("Hello.")]]);
  await first.prompt("Hi.");
  await first.dispose();
  const { session } = await open({ sessionId: first.sessionId });
  expect(session.sessionFile).toBe(first.sessionFile);
  expect(session.settings.defaultThinkingLevel).not.toBe("high");
  await expect(open({ sessionId: "nowhere" })).rejects.toMatchObject({ code: "session_not_found" });
});

test("nothing is watched or written, and what the session needs for itself ends with it", async () => {
  const watchers = () => process.getActiveResourcesInfo().filter((name) => name === "FSEventWrap").length;
  const before = { watchers: watchers(), own: await readdir(agentDir, { recursive: true }) };
  const turns = [[call("bash", { command: "sudo rm -rf /" })], [text("I may not.")]];
  const { session } = await open({}, turns);
  await session.prompt("Try it.");
  expect(session.messages.some((message) => message.role === "toolResult" && message.isError)).toBe(true);
  expect(watchers()).toBe(before.watchers);
  expect(await readdir(agentDir, { recursive: true })).toEqual(before.own);
  await session.settingsManager.update("global", { theme: "light" });
  await session.authStorage.set("mistral", { type: "api_key", key: "another-key-0123456789" });
  expect(await readdir(agentDir, { recursive: true })).toEqual(before.own);
});

test("an approval lasts for the session and its children, whatever was answered", async () => {
  // The temporary directories are open to tools.
  const outside = join(import.meta.dirname, "desk.ts");
  let asked = 0;
  const ask = async (): Promise<Answer> => {
    asked++;
    return { decision: "allow", choice: "always" };
  };
  const turns = [[call("read", { path: outside })], [text("Milk.")]];
  const { session } = await open({ use: [], ask }, [...turns, ...turns, ...turns]);
  await session.prompt("What do we need?");
  await session.prompt("And now?");
  const child = await session.openChild({ name: "child" });
  await child.prompt("What do we need?");
  await child.dispose();
  expect(asked).toBe(1);
  const { session: other } = await open({ use: [], ask }, turns);
  await other.prompt("What do we need?");
  expect(asked).toBe(2);
  expect(existsSync(join(agentDir, "approvals.json"))).toBe(false);
});

test("the user's directory is closed to the tools of a session that does not use it, wherever it is", async () => {
  const elsewhere = join(cwd, "..", "elsewhere");
  await mkdir(elsewhere);
  await writeFile(join(elsewhere, "auth.json"), "{}");
  vi.stubEnv("TAU_DIR", elsewhere);
  const ask = async (): Promise<Answer> => ({ decision: "allow", choice: "once" });
  const turns = [[call("read", { path: join(elsewhere, "auth.json") })], [text("No.")]];
  const { session } = await open({ use: [], ask }, turns);
  await session.prompt("Read it.");
  expect(session.messages.find(({ role }) => role === "toolResult")).toMatchObject({ isError: true });
});

test("a branch and createAgent read as little", async () => {
  const model = scriptedModel([[text("Hello.")]]);
  onTestFinished(() => model.dispose());
  const ai: AI = {
    model,
    stream: (context, options) => stream(model, context, options),
    complete: (context, options) => complete(model, context, options),
    streamSimple: (context, options) => streamSimple(model, context, options),
    completeSimple: (context, options) => completeSimple(model, context, options),
  };
  const agent = createAgent({ ai, cwd });
  onTestFinished(() => agent.dispose());
  expect(await agent.run("Hi.")).toBe("Hello.");
  const session = await agent.session();
  expect(session.sessionFile).toBeUndefined();
  const branch = await session.branch(session.sessionManager.getLeafId()!);
  onTestFinished(() => branch.dispose());
  expect(branch.resourceLoader.resources.contextFiles).toEqual([]);
  expect(branch.sessionFile).toBeUndefined();
});

test("a host has what the program has, unless its parameters say otherwise", async () => {
  const model = scriptedModel([]);
  onTestFinished(() => model.dispose());
  const getContext = async (params: Pick<AgentSessionParams, "use">) => {
    const host = createHost({ agentDir, params: { cwd, model, ...params } });
    onTestFinished(() => host.dispose());
    return host.get(await host.create()).session.resourceLoader.resources.contextFiles.length;
  };
  expect(await getContext({})).toBe(2);
  expect(await getContext({ use: ["user"] })).toBe(1);
});

test("a name that is not among them is refused", async () => {
  await expect(createAgentSession({ use: ["machine" as never] })).rejects.toMatchObject({ code: "invalid_input" });
});

/** A session for somebody else shares nothing with the others of its process. */
import { existsSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call, scriptedModel, startWireServer, text } from "@tau/ai/testing";
import { createAI } from "@tau/ai";
import { isSandboxMissing } from "@tau/sandbox/internal";
import { createMemoryStorage, readLog } from "@tau/tools/storage";
import { expect, onTestFinished, test, vi } from "vitest";
import { type AgentSessionParams, createAgent, createAgentSession, SessionManager } from "../../src/index.ts";
import { temporaryDirectory } from "./desk.ts";

async function openTenant(params: AgentSessionParams = {}, turns: Parameters<typeof scriptedModel>[0] = []) {
  const root = await temporaryDirectory();
  const cwd = join(root, "tenant");
  await mkdir(cwd);
  await writeFile(join(root, "outside.txt"), "of another");
  const model = scriptedModel(turns);
  const session = await createAgentSession({ cwd, model, isolation: "tenant", ...params });
  onTestFinished(async () => {
    await session.dispose();
    model.dispose();
  });
  return { session, model, cwd, root };
}

const lastResult = ({ messages }: { messages: readonly unknown[] }): string =>
  JSON.stringify((messages.findLast((message) => (message as { role: string }).role === "toolResult") as object) ?? {});

test.each<[string, AgentSessionParams]>([
  ["cwd", { cwd: undefined as never }],
  ["use", { use: ["user"] }],
  ["projectTrusted", { projectTrusted: true }],
  ["fileAuthority", { fileAuthority: "person" }],
  ["additionalDirectories", { additionalDirectories: ["/srv"] }],
  ["readablePaths", { readablePaths: ["/srv"] }],
  ["documents", { documents: { directory: "/srv" } }],
  ["sandbox.mode", { sandbox: { mode: "auto" } }],
  ["sandbox.allowedPaths", { sandbox: { allowedPaths: ["/srv"] } }],
  ["extensions", { extensions: { discovers: true } }],
  ["extensions", { extensions: { paths: ["/srv/extension.ts"] } }],
])("a tenant with a parameter that contradicts it is refused: %s", async (name, params) => {
  const opening = openTenant(params);
  await expect(opening).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringContaining(`\`${name}\``),
  });
});

test("what is outside is denied without a question, and a rule that the program adds does not change that", async () => {
  const asked: string[] = [];
  const { session, model, root } = await openTenant(
    {
      decide: () => ({ kind: "allow", rule: "program" }),
      ask: async ({ summary }) => {
        asked.push(summary);
        return { decision: "allow" };
      },
    },
    [
      [call("read", { path: "../outside.txt" }), call("write", { path: "../made.txt", content: "x" })],
      [text("Denied.")],
    ],
  );
  await session.prompt(`Read @${join(root, "outside.txt")}.`);
  expect(JSON.stringify(model.asked)).not.toContain("of another");
  expect(existsSync(join(root, "made.txt"))).toBe(false);
  expect(asked).toEqual([]);
});

test("nobody runs a command for the person of a tenant, and what it has goes with it", async () => {
  const before = new Set(await readdir(tmpdir()));
  const { session } = await openTenant({}, [[text("Hello.")]]);
  await session.prompt("Hi.");
  await expect(session.executeBash("id")).rejects.toMatchObject({ code: "denied" });
  const made = (await readdir(tmpdir())).filter((name) => name.startsWith("tau-tenant-") && !before.has(name));
  expect(made.length).toBeGreaterThan(0);
  await session.dispose();
  // Other tests of this process may have some of their own.
  const left = await readdir(tmpdir());
  expect(made.every((name) => left.includes(name))).toBe(false);
});

test("without a sandbox, bash is not offered, and a call of it is refused", async () => {
  vi.stubEnv("PATH", "/nowhere");
  onTestFinished(() => void vi.unstubAllEnvs());
  const { session, model } = await openTenant({ tools: ["read", "bash"] }, [
    [call("bash", { command: "echo ran" })],
    [text("It is not there.")],
  ]);
  await session.prompt("Run it.");
  expect(model.asked[0]?.context.tools?.map(({ name }) => name)).toEqual(["read"]);
  expect(lastResult(model.asked[1]!.context)).not.toMatch(/"text":"ran/);
});

test("a tenant's commands have the environment that it was given, and a temporary home otherwise", async ({ skip }) => {
  skip(isSandboxMissing("/nowhere"), "bubblewrap is not installed");
  vi.stubEnv("OF_THE_PROCESS", "yes");
  onTestFinished(() => void vi.unstubAllEnvs());
  const script = [[call("bash", { command: "env | sort" })], [text("Done.")]];
  const own = await openTenant({ env: { PATH: "/usr/bin:/bin", MINE: "given" } }, [...script]);
  await own.session.prompt("Go.");
  const other = await openTenant({}, [...script]);
  await other.session.prompt("Go.");
  const given = lastResult(own.model.asked[1]!.context);
  const usual = lastResult(other.model.asked[1]!.context);
  expect(given).toContain("MINE=given");
  expect(usual).toContain("HOME=/tmp");
  expect(given + usual).not.toContain("OF_THE_PROCESS");
});

test("a tenant's keys are those of its parameters", async () => {
  const turn = { kind: "answer" as const, answer: { content: [text("Hi.")] } };
  const server = await startWireServer("anthropic-messages", [turn, turn]);
  onTestFinished(() => server.close());
  vi.stubEnv("ANTHROPIC_API_KEY", "of-the-process-0123456789");
  onTestFinished(() => void vi.unstubAllEnvs());
  const cwd = await temporaryDirectory();
  const ask = async (apiKey: string | undefined, env: Record<string, string> = {}) => {
    const ai = createAI({ provider: "anthropic", model: "claude-opus-4-5", baseUrl: server.url, apiKey });
    const agent = createAgent({ ai, cwd, isolation: "tenant", env, tools: ["read"] });
    onTestFinished(() => agent.dispose());
    return await agent.run("Hi.").catch((error: Error) => error.message);
  };
  expect(await ask(undefined)).toContain("no API key");
  expect(await ask("of-the-parameter")).toBe("Hi.");
  expect(await ask(undefined, { ANTHROPIC_API_KEY: "of-the-environment" })).toBe("Hi.");
  expect(server.requests.map(({ headers }) => headers["x-api-key"])).toEqual([
    "of-the-parameter",
    "of-the-environment",
  ]);
});

test("a child of a tenant works below its directory, and sees what it sees", async () => {
  const { session, root } = await openTenant({}, []);
  await expect(session.openChild({ name: "child", cwd: root })).rejects.toMatchObject({ code: "denied" });
});

test("a tenant can have a log of its own, which is opened again", async () => {
  const agentDir = await temporaryDirectory();
  const { session, cwd } = await openTenant({ agentDir }, [[text("Hello.")]]);
  await session.prompt("Remember me.");
  await session.dispose();
  expect(await SessionManager.findById(cwd, session.sessionId, undefined, { agentDir })).toBeDefined();
});

test("what is allowed for good to a tenant is not for others with the same storage", async () => {
  const storage = createMemoryStorage();
  const choices: string[] = [];
  const open = async (params: AgentSessionParams) => {
    const { session } = await openTenant(
      {
        storage,
        permissionMode: "ask",
        ask: async (approval) => {
          choices.push(...approval.choices.map(({ choice }) => choice));
          return { decision: "allow", choice: "always" };
        },
        ...params,
      },
      [[call("write", { path: "made.txt", content: "x" })], [text("Done.")]],
    );
    await session.prompt("Write it.");
    return await readLog(storage, "record/approvals");
  };
  expect(await open({})).toBeUndefined();
  expect(choices).toContain("always");
  // The control: other sessions of the storage keep it there.
  expect((await open({ isolation: undefined as never }))?.toString()).toContain("made.txt");
});

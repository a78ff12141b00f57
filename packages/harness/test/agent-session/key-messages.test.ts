/** A missing key is asked for with what exists where the message is read. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAI } from "@tau/ai";
import { createAgent, createAgentSession, SessionManager } from "@tau/harness";
import { AuthStorage } from "@tau/config/auth";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";

let agentDir = "";
beforeEach(() => {
  agentDir = mkdtempSync(join(tmpdir(), "tau-keys-"));
  onTestFinished(() => rmSync(agentDir, { recursive: true, force: true }));
  vi.stubEnv("OPENAI_API_KEY", "");
  onTestFinished(() => void vi.unstubAllEnvs());
});

async function ask(authStorage?: AuthStorage): Promise<string | undefined> {
  const session = await createAgentSession({
    agentDir,
    cwd: agentDir,
    model: "openai/gpt-4o",
    sessionManager: await SessionManager.inMemory(agentDir),
    ...(authStorage && { authStorage }),
  });
  onTestFinished(() => session.dispose());
  const outcome = await session.prompt("Hi");
  return outcome.kind === "ran" ? outcome.failure?.message : undefined;
}

test("createAgent names the option of createAI", async () => {
  const agent = createAgent({ ai: createAI({ provider: "openai", model: "gpt-4o" }), agentDir, cwd: agentDir });
  onTestFinished(() => agent.dispose());
  await expect(agent.run("Hi")).rejects.toThrow("Set OPENAI_API_KEY, or use the option apiKey of createAI");
});

test("createAgentSession names the command that stores keys, or the storage that it was given", async () => {
  expect(await ask()).toContain("Set OPENAI_API_KEY, or store a key with tau auth login openai.");
  expect(await ask(AuthStorage.inMemory())).toContain("Set OPENAI_API_KEY, or give a key to authStorage.");
});

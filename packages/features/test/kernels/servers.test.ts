/** Real servers of MCP and real requests to models by their roles, from cells and from `inspect_image`. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call, startWireServer, text } from "@tau/ai/testing";
import { createAgentSession } from "@tau/harness";
import { getNestedCall } from "@tau/protocol";
import { expect, onTestFinished, test } from "vitest";
import { discovery, inspectImage, kernels, mcp } from "../../src/index.ts";
import { getReferenceServer } from "../mcp/kit.ts";
import { languages, openKernels } from "./kit.ts";

async function makeDirectory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "tau-kernel-servers-"));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

test("a tool of a server is called from cells of both languages, below the cell", { timeout: 120_000 }, async () => {
  const agentDir = await makeDirectory();
  const args = [getReferenceServer("everything"), "stdio"];
  const everything = { command: process.execPath, args, trusted: true };
  await writeFile(join(agentDir, "mcp.json"), JSON.stringify({ mcpServers: { everything } }));
  const { run, session, callTool } = await openKernels({ agentDir, features: [mcp()] });
  // A search waits for servers only for a time; one that starts slowly is found by a later search.
  const search = async () => (await callTool("tool_search", { query: "echo" })).text;
  await expect.poll(search).toContain("mcp__everything__echo");
  for (const language of languages) {
    const code =
      language === "python"
        ? 'await tool.mcp__everything__echo(message="hello")'
        : 'await tool.mcp__everything__echo({ message: "hello" })';
    const cell = await run(language, code);
    expect(cell.isError, cell.text).toBe(false);
    expect(JSON.stringify(cell.details.value)).toContain("Echo: hello");
  }
  const nested = (await session.sessionManager.getEntries()).flatMap((entry) => getNestedCall(entry) ?? []);
  expect(nested.map(({ toolName }) => toolName)).toEqual(languages.map(() => "mcp__everything__echo"));
});

/** Two pixels, red and green. */
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAAD0lEQVR4nGP4z8DA8J8BAAf/Af8Bf4mnAAAAAElFTkSuQmCC",
  "base64",
);

test("completion and a question about an image go to the models of their roles", async () => {
  const answer = (content: ReturnType<typeof text | typeof call>) => ({
    kind: "answer",
    answer: { content: [content] },
  });
  const code = `[await completion("Which?", { role: "smol" }), await completion("And?"), await completion("Or?", { role: "none" })]`;
  const cell = { name: "eval", arguments: { language: "javascript", code } };
  const server = await startWireServer("openai-completions", [
    answer(call("call_tool", cell)),
    answer(text("small")),
    answer(text("session")),
    // A role that is not set has the model of the session.
    answer(text("unset")),
    answer(call("inspect_image", { path: "a.png", question: "What is it?" })),
    answer(text("Two pixels.")),
    answer(text("Done.")),
  ] as never);
  onTestFinished(() => server.close());
  const cwd = await makeDirectory();
  const agentDir = join(cwd, "agent");
  await mkdir(agentDir);
  await writeFile(join(cwd, "a.png"), png);
  const models = ["large", "small", "eyes"].map((id) => ({
    id,
    name: id,
    contextWindow: 32_000,
    maxTokens: 4_000,
    ...(id === "eyes" && { input: ["text", "image"] }),
  }));
  const acme = { baseUrl: server.url, api: "openai-completions", apiKey: "acme-key-0123456789", models };
  await writeFile(join(agentDir, "models.json"), JSON.stringify({ providers: { acme } }));
  const settings = {
    roles: { smol: "acme/small", vision: "acme/eyes" },
    tools: { enabled: ["inspect_image"] },
    sandbox: { mode: "off" },
  };
  await writeFile(join(agentDir, "settings.json"), JSON.stringify(settings));
  const session = await createAgentSession({
    cwd,
    agentDir,
    model: "acme/large",
    features: [kernels(), discovery(), inspectImage()],
    policyProfile: "permissive",
  });
  onTestFinished(() => session.dispose());
  await session.prompt("go");
  const asked = server.requests.map(({ body }) => (body as { model: string }).model);
  expect(asked).toEqual(["large", "small", "large", "large", "large", "eyes", "large"]);
  expect(JSON.stringify(server.requests[5]!.body)).toContain("data:image/png;base64,");
  const results = session.messages.flatMap((message) => (message.role === "toolResult" ? [message] : []));
  expect(results[0]!.details).toMatchObject({ value: ["small", "session", "unset"] });
  expect(JSON.stringify(results[1]!.content)).toContain("Two pixels.");
});

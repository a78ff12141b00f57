/** Sessions with four models of a server that speaks a real protocol, which says which model was asked. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { startWireServer, text, type WireReply } from "@tau/ai/testing";
import type { ExtensionAPI } from "@tau/extensions";
import type { SessionEvent } from "@tau/protocol";
import { onTestFinished } from "vitest";
import { createAgentSession } from "../../src/construct/create-agent-session.ts";
import type { AgentSessionParams } from "../../src/construct/params.ts";
import { temporaryDirectory } from "./desk.ts";

const describeModel = (id: string) => ({ id, name: id, contextWindow: 32_000, maxTokens: 4_000, reasoning: true });

export const says = (words: string): WireReply => ({ kind: "answer", answer: { content: [text(words)] } });

export async function openWithRoles(
  settings: object,
  params: AgentSessionParams = {},
  replies: readonly WireReply[] = [says("Yes.")],
  files: Readonly<Record<string, string>> = {},
) {
  const server = await startWireServer("openai-completions", replies);
  onTestFinished(() => server.close());
  const cwd = await temporaryDirectory();
  const agentDir = join(cwd, "agent");
  await mkdir(agentDir);
  const models = ["tiny", "usual", "large", "other"].map(describeModel);
  const house = { baseUrl: server.url, api: "openai-completions", apiKey: "house-key-0123456789", models };
  await writeFile(join(agentDir, "models.json"), JSON.stringify({ providers: { house } }));
  await writeFile(join(agentDir, "settings.json"), JSON.stringify(settings));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(cwd, name)), { recursive: true });
    await writeFile(join(cwd, name), content);
  }
  let api!: ExtensionAPI;
  const session = await createAgentSession({
    cwd,
    agentDir,
    extensions: { factories: [(tau) => void (api ??= tau)] },
    ...params,
  });
  onTestFinished(() => session.dispose());
  const events: SessionEvent[] = [];
  session.onSessionEvent((event) => events.push(event));
  const getAsked = () => server.requests.map(({ body }) => (body as { model: string }).model);
  return { session, api, events, server, getAsked, agentDir, cwd };
}

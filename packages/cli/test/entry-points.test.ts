/** Everything that a person starts reads the files of the user and of the project. A library reads them only if asked to. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createHost } from "@tau/harness/host";
import { createAgentSession as createPiSession } from "@tau/pi-sdk";
import { connectToGateway } from "@tau/protocol/node";
import { expect, onTestFinished, test } from "vitest";
import { connectClient, initialize, newSession, prompt } from "./acp-kit.ts";
import { startGateway } from "./gateway/kit.ts";
import { createModelWorkspace, type ModelWorkspace, run, textReply } from "./kit.ts";
import { serve } from "./rpc-kit.ts";

/** The user's settings choose one model and trust projects, and those of the project another model. */
const files = {
  ".agent/AGENTS.md": "The user's instructions.",
  ".agent/settings.json": JSON.stringify({
    defaultProvider: "acme",
    defaultModel: "acme/small",
    defaultProjectTrust: "always",
  }),
  "AGENTS.md": "The project's instructions.",
  ".tau/settings.json": JSON.stringify({ defaultModel: "acme/large" }),
};

async function openWorkspace(changes: Record<string, string> = {}): Promise<ModelWorkspace> {
  const workspace = await createModelWorkspace([textReply("Hello.")]);
  for (const [name, content] of Object.entries({ ...files, ...changes })) {
    const path = join(workspace.directory, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
  return workspace;
}

/** Describes whose files were used for the request. */
function describeRequest({ server }: ModelWorkspace) {
  const { model, ...body } = server.requests.at(-1)!.body as { model: string };
  const text = JSON.stringify(body);
  return {
    model,
    user: text.includes("The user's instructions."),
    project: text.includes("The project's instructions."),
  };
}

const everything = { model: "large", user: true, project: true };

const entryPoints: [string, (workspace: ModelWorkspace) => Promise<void>][] = [
  [
    "the program",
    async (workspace) => {
      expect(await run(workspace, ["-p", "Hi."])).toMatchObject({ code: 0 });
    },
  ],
  [
    "RPC mode",
    async (workspace) => {
      const { ask, seen } = serve(workspace);
      await ask("prompt", { message: "Hi." });
      await seen(({ type }) => type === "agent_end");
    },
  ],
  [
    "tau acp",
    async (workspace) => {
      const { agent } = connectClient(workspace, () => {});
      await initialize(agent);
      const { sessionId } = await newSession(agent, workspace);
      await prompt(agent, sessionId, "Hi.");
    },
  ],
  [
    "tau gateway",
    async (workspace) => {
      await startGateway(workspace);
      const gateway = await connectToGateway({ agentDir: workspace.agentDir });
      onTestFinished(() => gateway.close());
      const { sessionId } = await gateway.call("sessions.create", { cwd: workspace.directory });
      await gateway.call("session.execute", { sessionId, prompt: "Hi." });
    },
  ],
  [
    "createHost",
    async ({ directory, agentDir }) => {
      const host = createHost({ agentDir, params: { cwd: directory } });
      onTestFinished(() => host.dispose());
      await host.get(await host.create()).session.prompt("Hi.");
    },
  ],
];

test.each(entryPoints)("%s uses the files of the user and of the project", async (_name, start) => {
  const workspace = await openWorkspace();
  await start(workspace);
  expect(describeRequest(workspace)).toEqual(everything);
});

test("a session of @tau/pi-sdk uses the files of the user and of the project", async () => {
  // pi's settings name the provider and the model apart, and those of a project are in another directory.
  const workspace = await openWorkspace({
    ".agent/settings.json": JSON.stringify({ defaultProvider: "acme", defaultModel: "small" }),
    ".pi/settings.json": JSON.stringify({ defaultModel: "large" }),
  });
  const { session } = await createPiSession({ cwd: workspace.directory, agentDir: workspace.agentDir });
  onTestFinished(() => session.dispose());
  await session.prompt("Hi.");
  expect(describeRequest(workspace)).toEqual(everything);
});

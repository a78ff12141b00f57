/** A session on a temporary ground with a scripted model. */
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentTool } from "@tau/agent";
import { type ScriptedModelOptions, scriptedModel, type ScriptedTurn, text } from "@tau/ai/testing";
import type { SessionEvent } from "@tau/protocol";
import { onTestFinished } from "vitest";
import type { AgentSession } from "../../src/agent-session/agent-session.ts";
import { createAgentSession } from "../../src/construct/create-agent-session.ts";
import type { AgentSessionParams } from "../../src/construct/params.ts";
import type { AgentSessionEvent } from "../../src/run/publisher.ts";
import { SettingsManager, type SettingsInput } from "@tau/config/settings";

export interface DeskOptions extends AgentSessionParams {
  /** Without effect beside `settingsManager`. */
  settings?: SettingsInput;
  scripted?: ScriptedModelOptions;
}

export interface Desk {
  session: AgentSession;
  model: ReturnType<typeof scriptedModel>;
  directory: string;
  events: SessionEvent[];
  engine: AgentSessionEvent[];
}

export async function temporaryDirectory(): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "tau-agent-session-")));
  onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }));
  return directory;
}

export async function openDesk(
  turns: readonly ScriptedTurn[],
  { settings = {}, scripted, ...params }: DeskOptions = {},
): Promise<Desk> {
  const directory = params.cwd ?? (await temporaryDirectory());
  const model = scriptedModel(turns, scripted);
  const session = await createAgentSession({
    cwd: directory,
    use: ["user", "project"],
    agentDir: join(directory, "agent"),
    model,
    thinkingLevel: "off",
    settingsManager: SettingsManager.inMemory(settings),
    ...params,
  });
  const events: SessionEvent[] = [];
  const engine: AgentSessionEvent[] = [];
  session.onSessionEvent((event) => events.push(event));
  session.subscribe((event) => engine.push(event));
  onTestFinished(async () => {
    await session.dispose();
    model.dispose();
  });
  return { session, model, directory, events, engine };
}

/** A tool that says something and does nothing. */
export const sayTool = (name: string, says: string | (() => string | Promise<string>) = name): AgentTool => ({
  name,
  label: name,
  description: `Says ${name}.`,
  parameters: { type: "object", properties: {} },
  execute: async () => ({ content: [text(typeof says === "string" ? says : await says())], details: {} }),
});

export const getTypes = (events: readonly { type: string }[]): string[] => events.map(({ type }) => type);

/** Waits until a condition holds, however slow the disk is. Looks at every turn of the event loop. */
export async function until(holds: () => boolean): Promise<void> {
  for (const started = performance.now(); !holds();) {
    if (performance.now() - started > 45_000) throw new Error(`This did not become true within 45 s: ${holds}`);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

/** A promise that never settles, as a hung provider or tool gives one. */
export const never = <T>(): Promise<T> => new Promise<T>(() => {});

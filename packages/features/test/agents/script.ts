/** A scripted model that plays a session and all of its sub-agents. */
import type { Context } from "@tau/ai";
import type { ScriptedTurn } from "@tau/ai/testing";
import type { SettingsInput } from "@tau/config/settings";
import { onTestFinished } from "vitest";
import { allFeatures } from "../../src/index.ts";
import { createTestSession, type TestSessionParams } from "../kit.ts";

interface PlayParams extends Omit<TestSessionParams, "settings"> {
  /** The settings of the feature. */
  agents?: { maxDepth?: number; maxConcurrent?: number };
  /** How many requests there may be in all. */
  maxRequests?: number;
}

type TestTurn = Parameters<typeof createTestSession>[0][number];

/** The part of one agent: its answer to each request. `step` counts its requests, from 1. */
export type Part = (step: number, context: Context, signal: AbortSignal) => ScriptedTurn | Promise<ScriptedTurn>;

/** The parts by the ids of agents. `main` is the session itself; `default` plays all others. */
export type Parts = Readonly<Record<string, Part>>;

export const getAgentId = ({ systemPrompt }: Context): string =>
  /You are agent ([\d.]+)\./.exec(JSON.stringify(systemPrompt ?? ""))?.[1] ?? "main";

/** A turn for each request that parents and children make. */
export function playParts(parts: Parts): ScriptedTurn {
  return async (context, { signal }) => {
    const part = parts[getAgentId(context)] ?? parts["default"];
    if (!part) throw new Error(`There is no part for agent ${getAgentId(context)}.`);
    const step = context.messages.filter(({ role }) => role === "assistant").length + 1;
    return await part(step, context, signal ?? new AbortController().signal);
  };
}

/** Opens a session whose model plays the parts. */
export async function openPlay(parts: Parts, { agents = {}, maxRequests = 2_000, ...params }: PlayParams = {}) {
  const turns = Array.from({ length: maxRequests }, () => playParts(parts)) as TestTurn[];
  const settings = { agents } as SettingsInput;
  const opened = await createTestSession(turns, { features: allFeatures, settings, ...params });
  onTestFinished(() => opened.dispose());
  return opened;
}

/** Never answers, and ends with its signal. */
export const hang = (signal: AbortSignal): Promise<ScriptedTurn> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve([]), { once: true }));

/** The text of the last message that a request has. */
export function getLastText({ messages }: Context): string {
  const last = messages.at(-1);
  return typeof last?.content === "string" ? last.content : JSON.stringify(last?.content ?? "");
}

/** Something that a test opens once. */
export function createGate(): { open: () => void; opened: Promise<void> } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

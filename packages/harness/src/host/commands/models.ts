/** Commands that choose the model, its thinking level, its tools and how the session behaves. */
import { getSupportedThinkingLevels, modelsAreEqual } from "@tau/ai";
import { thinkingLevels, withoutUndefined } from "@tau/ai/internal";
import { type CommandParams, HarnessError } from "@tau/protocol";
import type { AgentSession } from "../../agent-session/agent-session.ts";
import { formatNothingToCompact } from "../../compaction/nothing-to-compact.ts";
import { flag, list, nonEmptyText, oneOf, optional, text } from "@tau/config/fields";
import { compareProviders, defaultModels } from "@tau/config/models";
import { findLastModel } from "../../session/last-model.ts";
import { listRoles, listTools, toModelData } from "../data.ts";
import { command, type CommandContext, type SomeCommands, longCommand } from "./command.ts";

const queueMode = oneOf("all", "one-at-a-time");

export const modelCommands = {
  set_model: command({ provider: optional(nonEmptyText), modelId: nonEmptyText }, setModel),
  cycle_model: command({ direction: optional(oneOf("forward", "backward")) }, cycleModel),
  get_available_models: command({ discover: optional(flag), last: optional(flag) }, getAvailableModels),
  get_providers: command({}, ({ session }) => ({ providers: listProviders(session) })),
  set_thinking_level: command({ level: oneOf(...thinkingLevels) }, ({ session }, { level }) =>
    session.setThinkingLevel(level),
  ),
  cycle_thinking_level: command({}, async ({ session }) => {
    const levels = getLevels(session);
    if (levels.length < 2) return null;
    await session.setThinkingLevel(getNext(levels, levels.indexOf(session.thinkingLevel)));
    return { level: session.thinkingLevel };
  }),
  get_available_thinking_levels: command({}, ({ session }) => ({ levels: getLevels(session) })),
  set_steering_mode: command({ mode: queueMode }, ({ session }, { mode }) => session.override({ steeringMode: mode })),
  set_follow_up_mode: command({ mode: queueMode }, ({ session }, { mode }) => session.override({ followUpMode: mode })),
  set_auto_compaction: command({ enabled: flag }, ({ session }, { enabled }) =>
    session.override({ autoCompaction: enabled }),
  ),
  set_auto_retry: command({ enabled: flag }, ({ session }, { enabled }) => session.override({ autoRetry: enabled })),
  compact: longCommand({ customInstructions: optional(text) }, ({ session }, { customInstructions }) =>
    compact(session, customInstructions),
  ),
  get_tools: command({}, ({ session }) => ({ tools: listTools(session) })),
  set_tools: command({ names: list(nonEmptyText) }, ({ session }, { names }) => {
    session.setActiveTools(names);
    return { tools: listTools(session) };
  }),
} satisfies SomeCommands;

async function getAvailableModels(
  { session }: CommandContext,
  { discover = false, last = false }: CommandParams<"get_available_models">,
) {
  const { modelRegistry, sessionManager, sessionFile } = session;
  // A change on a disk that is not watched is seen here at the latest.
  await modelRegistry.refresh();
  if (discover) await modelRegistry.discover({ force: true });
  const directory = last ? sessionManager.getSessionDir() : undefined;
  const used = directory === undefined ? undefined : await findLastModel(directory, { except: sessionFile });
  return {
    models: modelRegistry.getAvailable().map(toModelData),
    roles: listRoles(session),
    scope: (findScope(session) ?? []).map(({ model: { provider, id } }) => ({ provider, id })),
    ...(used && { last: { provider: used.provider, id: used.modelId } }),
  };
}

async function setModel({ session }: CommandContext, { provider, modelId }: CommandParams<"set_model">) {
  const model = provider === undefined ? modelId : session.modelRegistry.find(provider, modelId);
  if (!model) throw new HarnessError("unknown_model", formatUnknownModel(session, `${provider}/${modelId}`));
  await session.setModel(model);
  return toModelData(session.model!);
}

const getLevels = ({ model }: AgentSession) => (model ? getSupportedThinkingLevels(model) : ["off" as const]);

/** The item after an index, and after the last the first again. */
const getNext = <T>(items: readonly T[], index: number): T => items[(index + 1) % items.length]!;

function formatUnknownModel({ modelRegistry }: AgentSession, reference: string): string {
  const resolution = modelRegistry.resolve(reference);
  return resolution.kind === "resolved" ? `There is no model ${JSON.stringify(reference)}.` : resolution.message;
}

function listProviders({ modelRegistry, authStorage }: AgentSession) {
  const configured = new Set(modelRegistry.getAvailable().map(({ provider }) => provider));
  const logins = new Map(authStorage.getLogins().map(({ id, name }) => [id, name]));
  const counts = new Map<string, number>();
  for (const { provider } of modelRegistry.getAll()) counts.set(provider, (counts.get(provider) ?? 0) + 1);
  return [...counts]
    .map(([name, modelCount]) => ({
      name,
      modelCount,
      configured: configured.has(name),
      ...withoutUndefined({ login: logins.get(name), defaultModel: defaultModels.get(name) }),
    }))
    .toSorted((a, b) => compareProviders(a.name, b.name));
}

/** Undefined if no models were chosen. */
const findScope = ({ modelPatterns, modelRegistry }: AgentSession) =>
  modelPatterns && modelRegistry.scope(modelPatterns).models;

async function cycleModel(context: CommandContext, { direction }: CommandParams<"cycle_model">) {
  const { session } = context;
  const scope = findScope(session);
  const choices = scope ?? session.modelRegistry.getAvailable().map((model) => ({ model, thinkingLevel: undefined }));
  if (choices.length < 2) return null;
  const ordered = direction === "backward" ? choices.toReversed() : choices;
  const current = ordered.findIndex(({ model }) => modelsAreEqual(model, session.model));
  const { model, thinkingLevel } = getNext<(typeof choices)[number]>(ordered, current);
  await session.setModel(model, "cycle");
  if (thinkingLevel !== undefined) await session.setThinkingLevel(thinkingLevel);
  return { model: toModelData(model), thinkingLevel: session.thinkingLevel, isScoped: scope !== undefined };
}

async function compact(session: AgentSession, instructions: string | undefined) {
  const outcome = await session.compact(instructions);
  switch (outcome.kind) {
    case "compacted": {
      const { summary, firstKeptEntryId, tokensBefore, details } = outcome.compaction;
      const { entryId, tokensAfter: estimatedTokensAfter, usage } = outcome;
      const kept = firstKeptEntryId ?? entryId;
      return { summary, firstKeptEntryId: kept, tokensBefore, estimatedTokensAfter, usage, details };
    }
    case "nothing":
      throw new HarnessError("run_failed", formatNothingToCompact(outcome.reason));
    case "failed":
      throw new HarnessError("run_failed", `The conversation could not be compacted: ${outcome.failure.message}`);
    case "aborted":
      throw new HarnessError("aborted", "The compaction was aborted.");
  }
}

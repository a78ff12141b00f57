/** When to compact, and how much to keep. */
import type { Model } from "@tau/ai";
import { HarnessError } from "@tau/protocol";
import { textTokens } from "./text.ts";

export interface CompactionChoices {
  /** Compact without being asked. Default true. */
  enabled?: boolean;
  /** Tokens of the window that stay free; a context that needs them is compacted. Default 16,384. */
  reserveTokens?: number;
  /** Tokens at the end of the conversation that are kept. Default 20,000. */
  keepRecentTokens?: number;
}

export interface CompactionSettings extends CompactionChoices {
  /** By `provider/id`. These take precedence. */
  models?: Record<string, CompactionChoices>;
  /** Another name of `models`, which pi has. Values of `models` take precedence. */
  modelOverrides?: Record<string, Omit<CompactionChoices, "enabled">>;
}

/** The settings for one model, within the limits of its window. */
export interface ResolvedCompactionSettings extends Required<CompactionChoices> {
  contextWindow: number;
}

const defaults: Required<CompactionChoices> = { enabled: true, reserveTokens: 16_384, keepRecentTokens: 20_000 };

/** The share of the window that stays free at most, and the share if the user chose it for the model. */
const maxFreeShare = 0.25;
const maxOwnFreeShare = 0.75;

/** 128,000 tokens if the model does not say. */
export const getContextWindow = ({ contextWindow }: Pick<Model, "contextWindow">): number =>
  contextWindow > 0 ? Math.floor(contextWindow) : 128_000;

/** At most half of what does not stay free is kept. */
export function resolveCompactionSettings(
  settings: CompactionSettings,
  model: Pick<Model, "provider" | "id" | "contextWindow">,
): ResolvedCompactionSettings {
  const key = `${model.provider}/${model.id}`;
  const own: CompactionChoices = { ...settings.modelOverrides?.[key], ...settings.models?.[key] };
  const contextWindow = getContextWindow(model);
  const getTokens = (name: "reserveTokens" | "keepRecentTokens") => {
    const value = own[name] ?? settings[name] ?? defaults[name];
    if (Number.isFinite(value) && value >= 0) return Math.floor(value);
    const text = `The setting compaction.${name} is ${value}. It must be a number of 0 or more tokens.`;
    throw new HarnessError("invalid_input", text);
  };
  const maxReserve = Math.floor(contextWindow * (own.reserveTokens === undefined ? maxFreeShare : maxOwnFreeShare));
  const reserveTokens = Math.min(getTokens("reserveTokens"), maxReserve);
  return {
    enabled: own.enabled ?? settings.enabled ?? defaults.enabled,
    reserveTokens,
    keepRecentTokens: Math.min(getTokens("keepRecentTokens"), maxKept({ contextWindow, reserveTokens })),
    contextWindow,
  };
}

/** The most that a compaction keeps, so that the context is not soon full again. */
export const maxKept = ({ contextWindow, reserveTokens }: { contextWindow: number; reserveTokens: number }): number =>
  Math.floor((contextWindow - reserveTokens) / 2);

/** The limit for a summary, in tokens. */
export function summaryTokens(
  { reserveTokens, contextWindow }: ResolvedCompactionSettings,
  model: Pick<Model, "maxTokens">,
): number {
  const free = Math.min(reserveTokens, contextWindow * maxFreeShare);
  const maxAnswerTokens = model.maxTokens > 0 ? model.maxTokens : Number.POSITIVE_INFINITY;
  return Math.max(minSummaryTokens, Math.min(Math.floor(free * 0.8), maxAnswerTokens));
}

const minSummaryTokens = 256;

export const shouldCompact = (
  tokens: number,
  { enabled, reserveTokens, contextWindow }: ResolvedCompactionSettings,
): boolean => enabled && tokens > contextWindow - reserveTokens;

/** Whether the summary itself fills the window, for example because it was made for a larger one. */
export const isTooLong = (summary: string | undefined, { contextWindow }: ResolvedCompactionSettings): boolean =>
  summary !== undefined && textTokens(summary) > contextWindow / 2;

/** How much room a model's answer is kept, and how much of the end of a conversation survives a compaction. */
import type { Model } from "@tau/ai";
import { HarnessError } from "../errors.ts";
import { textTokens } from "./text.ts";

export interface CompactionChoices {
  /** Compact without being asked. Default true. */
  enabled?: boolean;
  /** Tokens of the window that are kept free; a context that reaches into them is compacted. Default 16,384. */
  reserveTokens?: number;
  /** Tokens at the end of the conversation that stay as they are. Default 20,000. */
  keepRecentTokens?: number;
}

export interface CompactionSettings extends CompactionChoices {
  /** By `provider/id`; what is set here wins. */
  models?: Record<string, CompactionChoices>;
}

/** The settings for one model: everything set, and within what its window can hold. */
export interface ResolvedCompactionSettings extends Required<CompactionChoices> {
  contextWindow: number;
}

const defaults: Required<CompactionChoices> = { enabled: true, reserveTokens: 16_384, keepRecentTokens: 20_000 };

/** For a model that does not say how large its window is. */
const unknownWindow = 128_000;

/** Fills in what is not set. At most a quarter of a window is kept free, and at most half of the rest survives. */
export function resolveCompactionSettings(
  settings: CompactionSettings,
  model: Pick<Model, "provider" | "id" | "contextWindow">,
): ResolvedCompactionSettings {
  const own = settings.models?.[`${model.provider}/${model.id}`];
  const contextWindow = model.contextWindow > 0 ? Math.floor(model.contextWindow) : unknownWindow;
  const chosen = (name: "reserveTokens" | "keepRecentTokens") => {
    const value = own?.[name] ?? settings[name] ?? defaults[name];
    if (Number.isFinite(value) && value >= 0) return Math.floor(value);
    throw new HarnessError(
      "invalid_input",
      `The setting compaction.${name} is ${value}. It is a number of tokens: 0 or more.`,
    );
  };
  const reserveTokens = Math.min(chosen("reserveTokens"), Math.floor(contextWindow / 4));
  return {
    enabled: own?.enabled ?? settings.enabled ?? defaults.enabled,
    reserveTokens,
    keepRecentTokens: Math.min(chosen("keepRecentTokens"), maxKept({ contextWindow, reserveTokens })),
    contextWindow,
  };
}

/** What may survive at the very most, so that what comes out is far from being full again. */
export const maxKept = ({
  contextWindow,
  reserveTokens,
}: Pick<ResolvedCompactionSettings, "contextWindow" | "reserveTokens">): number =>
  Math.floor((contextWindow - reserveTokens) / 2);

/** How long a summary may be, in tokens. Even where nothing is reserved it needs a few words. */
export function summaryTokens({ reserveTokens }: ResolvedCompactionSettings, model: Pick<Model, "maxTokens">): number {
  const maxAnswerTokens = model.maxTokens > 0 ? model.maxTokens : Number.POSITIVE_INFINITY;
  return Math.max(minSummaryTokens, Math.min(Math.floor(reserveTokens * 0.8), maxAnswerTokens));
}

const minSummaryTokens = 256;

/** Whether a context of so many tokens is to be compacted now. */
export const shouldCompact = (
  tokens: number,
  { enabled, reserveTokens, contextWindow }: ResolvedCompactionSettings,
): boolean => enabled && tokens > contextWindow - reserveTokens;

/** Whether a summary, made for a larger window perhaps, is itself what fills the window. */
export const isTooLong = (summary: string | undefined, { contextWindow }: ResolvedCompactionSettings): boolean =>
  summary !== undefined && textTokens(summary) > contextWindow / 2;

/** Statistics of a session: what it has done and cost so far, and how full its context is. Pure. */
import { toAmount } from "../budget/usage.ts";
import type { SessionTotals } from "./totals.ts";

export interface SessionStats extends SessionTotals {
  readonly sessionId?: string;
  /** The part of all prompt tokens that came from a cache: 0 to 1, and 0 as long as there were none. */
  readonly cacheHitRate: number;
  /** How full the window is; undefined without a model, or if the size of its window is unknown. */
  readonly contextUse: ContextUse | undefined;
}

export interface ContextUse {
  /** About what the next request takes. */
  readonly tokens: number;
  readonly contextWindow: number;
  /** Percent of the window; over 100 when the context does not fit any more. */
  readonly percent: number;
}

export function getCacheHitRate({ tokens }: SessionTotals): number {
  const prompt = tokens.input + tokens.cacheRead + tokens.cacheWrite;
  return prompt > 0 ? tokens.cacheRead / prompt : 0;
}

/** Undefined for a model that does not say how large its window is. */
export function getContextUse(tokens: number, contextWindow: number): ContextUse | undefined {
  const window = toAmount(contextWindow);
  if (window === 0) return undefined;
  const used = toAmount(tokens);
  return { tokens: used, contextWindow: window, percent: (used / window) * 100 };
}

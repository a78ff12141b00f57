/** Adds up the entries of a session. Pure: one entry at a time, so that a long log is not read again. */
import { asRecord, isRecord } from "@tau/ai/internal";
import { parseUsage } from "../budget/usage.ts";
import type { SessionEntry } from "./entry.ts";

export interface SessionTotals {
  readonly messages: {
    readonly user: number;
    readonly assistant: number;
    readonly toolResults: number;
    readonly toolCalls: number;
  };
  readonly tokens: {
    /** Neither read from nor written to a cache. */
    readonly input: number;
    readonly output: number;
    readonly cacheRead: number;
    readonly cacheWrite: number;
    readonly total: number;
  };
  /** US dollars. */
  readonly cost: number;
}

/** Before the first entry. */
export const emptyTotals: SessionTotals = {
  messages: { user: 0, assistant: 0, toolResults: 0, toolCalls: 0 },
  tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  cost: 0,
};

/** The totals of the first rows of a table. */
export interface CountedRows {
  readonly rows: number;
  readonly totals: SessionTotals;
}

/**
 * The totals with one entry more: messages, and what answers, results of tools, summaries and usage entries cost. A value that is not a
 * valid count, as another program may have written it, counts as 0.
 */
export function countEntry(totals: SessionTotals, entry: SessionEntry): SessionTotals {
  switch (entry?.type) {
    case "message":
      return countMessage(totals, asRecord(entry.message));
    case "compaction":
    case "branch_summary":
    case "usage":
      return entry.usage ? countUsage(totals, entry.usage) : totals;
    default:
      return totals;
  }
}

function countMessage(totals: SessionTotals, message: Record<string, unknown>): SessionTotals {
  const { messages } = totals;
  switch (message.role) {
    case "user":
      return { ...totals, messages: { ...messages, user: messages.user + 1 } };
    case "toolResult":
      return { ...countUsage(totals, message.usage), messages: { ...messages, toolResults: messages.toolResults + 1 } };
    case "assistant": {
      const toolCalls = messages.toolCalls + countCalls(message.content);
      const counted = countUsage(totals, message.usage);
      return { ...counted, messages: { ...messages, assistant: messages.assistant + 1, toolCalls } };
    }
    default:
      return totals;
  }
}

const countCalls = (content: unknown): number =>
  Array.isArray(content) ? content.filter((block: unknown) => asRecord(block).type === "toolCall").length : 0;

function countUsage({ messages, tokens, cost }: SessionTotals, usage: unknown): SessionTotals {
  const added = parseUsage(usage);
  return {
    messages,
    tokens: {
      input: tokens.input + added.input,
      output: tokens.output + added.output,
      cacheRead: tokens.cacheRead + added.cacheRead,
      cacheWrite: tokens.cacheWrite + added.cacheWrite,
      total: tokens.total + added.total,
    },
    cost: cost + added.cost,
  };
}

/** Whether `value` can be the totals of some of `count` rows. */
export function isCountedRows(value: unknown, count: number): value is CountedRows {
  if (!isRecord(value) || !isRecord(value.totals)) return false;
  const { rows, totals } = value;
  const { messages, tokens, cost } = totals as Record<string, unknown>;
  return (
    Number.isInteger(rows) &&
    isAmount(rows) &&
    rows <= count &&
    hasAmounts(messages, emptyTotals.messages) &&
    hasAmounts(tokens, emptyTotals.tokens) &&
    isAmount(cost)
  );
}

const isAmount = (value: unknown): value is number => Number.isFinite(value) && (value as number) >= 0;

const hasAmounts = (value: unknown, names: object): boolean =>
  isRecord(value) && Object.keys(names).every((name) => isAmount(value[name]));

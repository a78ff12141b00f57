/** What a session cost and who answered, over all of its branches. */
import type { SessionEntry } from "../session/entry.ts";
import { toFields, getText } from "./text.ts";

export interface Totals {
  /** `provider/model` of every answer, in the order of their first. */
  models: string[];
  messages: number;
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  /** US dollars. */
  cost: number;
  /** The time of the latest entry, as it is in the log; empty when there is none. */
  lastActive: string;
}

export function getTotals(entries: readonly SessionEntry[]): Totals {
  const models = new Set<string>();
  const totals = { messages: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0, lastActive: "" };
  for (const entry of entries) {
    const message = toFields(entry.type === "message" ? entry.message : undefined);
    if (entry.type === "message") totals.messages++;
    if (message.role === "assistant") models.add(modelName(message.provider, message.model));
    const usage = toFields(message.role === "assistant" ? message.usage : toFields(entry).usage);
    for (const key of ["input", "output", "cacheRead", "cacheWrite"] as const) totals[key] += amount(usage[key]);
    totals.cost += amount(toFields(usage.cost).total);
    totals.lastActive = getText(entry.timestamp) || totals.lastActive;
  }
  return { ...totals, models: [...models] };
}

export const modelName = (provider: unknown, model: unknown): string =>
  [getText(provider), getText(model)].filter(Boolean).join("/") || "unknown model";

/** Logs of others may say anything. */
const amount = (value: unknown): number =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.min(value, 1e12) : 0;

export const costText = (cost: number): string => `$${cost.toFixed(cost < 1 ? 4 : 2)}`;

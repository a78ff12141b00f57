/** The models, tokens and costs of a session, over all of its branches. */
import { toAmount } from "../budget/usage.ts";
import type { SessionEntry } from "../session/entry.ts";
import { formatCount, toText, toFields } from "./text.ts";

interface Totals {
  /** `provider/model` of every assistant message, in the order of first use. */
  models: string[];
  messages: number;
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  /** US dollars. */
  cost: number;
  /** The time of the last entry, as it is in the log; empty when there is none. */
  lastActive: string;
}

export function getTotals(entries: readonly SessionEntry[]): Totals {
  const models = new Set<string>();
  const totals = { messages: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0, lastActive: "" };
  for (const entry of entries) {
    const message = toFields(entry.type === "message" ? entry.message : undefined);
    if (entry.type === "message") totals.messages++;
    if (message.role === "assistant") models.add(formatModel(message.provider, message.model));
    const usage = toFields(entry.type === "message" ? message.usage : toFields(entry).usage);
    for (const key of ["input", "output", "cacheRead", "cacheWrite"] as const) totals[key] += toAmount(usage[key]);
    totals.cost += toAmount(toFields(usage.cost).total);
    totals.lastActive = toText(entry.timestamp) || totals.lastActive;
  }
  return { ...totals, models: [...models] };
}

export const formatModel = (provider: unknown, model: unknown): string =>
  [toText(provider), toText(model)].filter(Boolean).join("/") || "unknown model";

/** A chosen model, with the role that it was chosen by. */
export const formatChosenModel = (provider: unknown, model: unknown, role: unknown): string =>
  `${formatModel(provider, model)}${toText(role) === "" ? "" : ` (@${toText(role)})`}`;

export const formatCost = (cost: number): string => `$${cost.toFixed(cost < 1 ? 4 : 2)}`;

export function formatUsage(usage: unknown): string {
  const { input, output, cacheRead, cost } = toFields(usage);
  const { total } = toFields(cost);
  const parts = [
    typeof input === "number" && input > 0 && `${formatCount(input)} in`,
    typeof cacheRead === "number" && cacheRead > 0 && `${formatCount(cacheRead)} cached`,
    typeof output === "number" && output > 0 && `${formatCount(output)} out`,
    typeof total === "number" && formatCost(total),
  ];
  return parts.filter(Boolean).join(" · ");
}

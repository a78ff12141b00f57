/** How much the next request takes, and whether that fits. */
import { resolveCompactionSettings, shouldCompact } from "../compaction/settings.ts";
import { textTokens } from "../compaction/text.ts";
import type { Budget, BudgetGrant } from "../budget/budget.ts";
import { toolsPrefix } from "@tau/extensions/internal";
import type { RunHost } from "./run-host.ts";

type SizeHost = Pick<RunHost, "transcript" | "current" | "settings">;

/** About how many tokens the next request takes. Until a provider has counted them, prompt and tools are estimated. */
function estimateInput({ transcript, current }: SizeHost): number {
  if (transcript.isCounted) return transcript.tokens;
  const { systemPrompt, tools } = current();
  return transcript.tokens + textTokens(systemPrompt.text) + textTokens(toolsPrefix(tools));
}

/** Whether the context should be compacted before more is added. */
export const isContextFull = (host: SizeHost): boolean =>
  shouldCompact(estimateInput(host), resolveCompactionSettings(host.settings().compaction, host.current().model));

/** Reserves the next request in a budget. */
export function reserveRequest(host: SizeHost, budget: Budget): BudgetGrant {
  const { maxTokens, cost } = host.current().model;
  return budget.reserve({ inputTokens: estimateInput(host), maxOutputTokens: maxTokens, price: cost });
}

/** The limit that leaves no room for another request; undefined when there is room. */
export function findSpentLimit(host: SizeHost, budget: Budget) {
  const grant = reserveRequest(host, budget);
  if (grant.kind === "spent") return grant.limit;
  grant.reservation.cancel();
  return undefined;
}

/** A twentieth of the window: how much the context must grow before a compaction that did not help is tried again. */
export const getCompactionStep = ({ current }: SizeHost): number =>
  resolveCompactionSettings({}, current().model).contextWindow / 20;

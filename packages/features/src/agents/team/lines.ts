/** The lines that people see of agents. Pure. */
import { formatTokens } from "@tau/protocol/surface";
import { formatDuration } from "./reports.ts";
import type { Agent } from "./tree.ts";

const maxShown = 8;

/** A line for each agent that has not ended; undefined if all have. */
export function describeRunning(agents: readonly Agent[], nowMs: number): string[] | undefined {
  const running = agents.filter(({ state }) => state.kind !== "ended");
  if (running.length === 0) return undefined;
  const others = running.length - maxShown;
  const lines = running.slice(0, maxShown).map((agent) => describeAgent(agent, nowMs));
  return others > 0 ? [...lines, `… and ${others} more`] : lines;
}

/** Describes an agent in one line. */
export function describeAgent(agent: Agent, nowMs: number): string {
  const { id, description, agentName, state, seenTokens, used, depth } = agent;
  const name = `${"  ".repeat(Math.max(0, depth - 1))}${id} ${description}${agentName === undefined ? "" : ` (${agentName})`}`;
  const tokens = Math.max(seenTokens, used.tokens);
  const spent = tokens > 0 ? [`${formatTokens(tokens)} tokens`] : [];
  switch (state.kind) {
    case "waiting":
      return [name, "waiting"].join(" · ");
    case "working":
      return [name, agent.doing || "starting", formatDuration(nowMs - state.sinceMs), ...spent].join(" · ");
    case "ended":
      return [name, state.status, ...spent].join(" · ");
  }
}

/** Agents with those below each after it. */
export function sortAgents(agents: readonly Agent[]): readonly Agent[] {
  return agents.toSorted((a, b) => a.id.localeCompare(b.id, "en", { numeric: true }));
}

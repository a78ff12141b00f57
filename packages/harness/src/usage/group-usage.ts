/** Adds up what sessions have used, by day, project, model, tool or agent. Pure. */
import { noUsage, type UsageAmounts, type UsageGroup, type UsageReport, type UsageRow } from "@tau/protocol";
import { addAmounts, type UsageCell } from "./count-usage.ts";

/** The amounts of a session. */
export interface SessionUsage {
  /** Where it was started; empty if that is lost. */
  readonly cwd: string;
  /** Its named agent; empty if it has none. */
  readonly agent: string;
  readonly cells: readonly UsageCell[];
}

interface UsageFilter {
  by: UsageGroup;
  /** The first and the last day that count, such as `2026-03-01`. */
  since?: string;
  until?: string;
}

export function groupUsage(sessions: readonly SessionUsage[], { by, since = "", until }: UsageFilter): UsageReport {
  const rows = new Map<string, UsageAmounts>();
  let total = noUsage;
  for (const session of sessions) {
    for (const cell of session.cells) {
      if (cell.day < since || (until !== undefined && cell.day > until)) continue;
      total = addAmounts(total, cell);
      const name = getName(by, session, cell);
      if (name !== undefined) rows.set(name, addAmounts(rows.get(name) ?? noUsage, cell));
    }
  }
  const list = [...rows].map(([name, amounts]) => ({ name, ...amounts }));
  return { by, rows: list.sort(by === "day" ? byName : byAmount), total };
}

function getName(by: UsageGroup, { cwd, agent }: SessionUsage, { day, kind, name }: UsageCell): string | undefined {
  switch (by) {
    case "day":
      return day;
    case "project":
      return cwd;
    case "agent":
      return agent;
    case "model":
    case "tool":
      return kind === by ? name : undefined;
  }
}

const byName = (a: UsageRow, b: UsageRow) => (a.name < b.name ? -1 : 1);

const byAmount = (a: UsageRow, b: UsageRow) =>
  b.cost - a.cost || getTokens(b) - getTokens(a) || b.calls - a.calls || byName(a, b);

/** All tokens, those of a cache included. */
const getTokens = ({ input, output, cacheRead, cacheWrite }: UsageAmounts): number =>
  input + output + cacheRead + cacheWrite;

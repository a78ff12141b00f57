/** Methods about the usage of sessions. */
import { closeAfter } from "@tau/ai/internal";
import { nonEmptyText, optional } from "@tau/config/fields";
import { usageReportFields } from "@tau/harness/host";
import { sumUsage } from "@tau/harness/session";
import type { UsageData } from "@tau/protocol/gateway";
import { GatewayError } from "../errors.ts";
import type { GatewayParts } from "../parts.ts";
import { here, method, type SomeMethods } from "./method.ts";

const pageSize = 100;
/** Only so many of the last used sessions are summed up. */
const maxSessions = 1_000;

export const usageMethods = {
  "usage.get": method(
    here,
    { sessionId: optional(nonEmptyText), since: optional(nonEmptyText) },
    async ({ parts }, { sessionId, since }) => {
      const start = since === undefined ? undefined : new Date(since);
      if (start && Number.isNaN(start.getTime())) {
        throw new GatewayError("invalid_parameters", "since has to be a date, such as 2026-01-31T00:00:00Z.");
      }
      // Of one session everything, of all those since the gateway was started.
      const from = start ?? new Date(sessionId === undefined ? parts.startedAt : 0);
      const ids = sessionId === undefined ? await listUsedSince(parts, from) : [sessionId];
      const sessions: UsageData["sessions"] = [];
      for (const id of ids) {
        const usage = await readUsage(parts, id, from);
        if (usage) sessions.push({ sessionId: id, ...usage });
        // Others were deleted since they were listed.
        else if (id === sessionId) throw notFound(id);
      }
      const used = sessionId === undefined ? sessions.filter(({ tokens, cost }) => tokens > 0 || cost > 0) : sessions;
      return {
        since: from.toISOString(),
        sessions: used,
        tokens: used.reduce((sum, { tokens }) => sum + tokens, 0),
        cost: used.reduce((sum, { cost }) => sum + cost, 0),
      };
    },
  ),
  // Not of the gateway's sessions alone: those of the user, as everywhere else.
  "usage.report": method(here, usageReportFields, ({ parts }, params) =>
    parts.sessionIndex.reportUsage({ ...params, limits: getCostLimits(parts) }),
  ),
} satisfies SomeMethods;

function getCostLimits({ settings }: GatewayParts) {
  const { day, month } = settings.get().budgets;
  return { day: day.cost, month: month.cost };
}

async function listUsedSince({ sessionIndex, sessions, cluster }: GatewayParts, from: Date): Promise<string[]> {
  if (cluster) return await cluster.catalogue.listUsedSince(from);
  sessions.markChanges();
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await sessionIndex.list({ limit: pageSize, ...(cursor !== undefined && { cursor }) });
    const recent = page.sessions.filter(({ modified }) => modified >= from);
    ids.push(...recent.map(({ id }) => id));
    cursor = recent.length < page.sessions.length ? undefined : page.cursor;
  } while (cursor !== undefined && ids.length < maxSessions);
  return ids;
}

/** Without opening a session that is closed. Undefined if there is none. */
async function readUsage({ sessions, sessionIndex, cluster }: GatewayParts, sessionId: string, from: Date) {
  const open = sessions.find(sessionId);
  if (open) return await sumUsage(open.hosted.session.sessionManager, from);
  if (cluster) return await cluster.catalogue.readUsage(sessionId, from);
  const manager = await sessionIndex.open(sessionId, { access: "read" });
  return manager && (await closeAfter(manager, () => sumUsage(manager, from)));
}

const notFound = (sessionId: string): GatewayError =>
  new GatewayError("not_found", `There is no session ${JSON.stringify(sessionId.slice(0, 128))}.`);

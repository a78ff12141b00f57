import { method, type SomeMethods } from "./method.ts";

export const healthMethods = {
  health: method({}, async ({ parts }) => {
    const sessions = await parts.sessions.list();
    return {
      ok: true,
      version: parts.version,
      uptimeMs: parts.clock.now() - parts.startedAt,
      connections: parts.connections.count,
      openSessions: sessions.length,
      runningSessions: sessions.filter(({ status }) => status === "running").length,
      inbox: parts.inbox.counts,
      memoryBytes: process.memoryUsage.rss(),
    };
  }),
} satisfies SomeMethods;

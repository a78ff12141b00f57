import { here, method, type SomeMethods } from "./method.ts";

export const healthMethods = {
  health: method(here, {}, ({ parts }) => {
    const open = [...parts.sessions.all];
    return {
      ok: true,
      version: parts.version,
      uptimeMs: parts.clock.now() - parts.startedAt,
      connections: parts.connections.count,
      openSessions: open.length,
      runningSessions: open.filter(({ hosted }) => hosted.session.isStreaming).length,
      inbox: parts.inbox.counts,
      memoryBytes: process.memoryUsage.rss(),
      channels: parts.channels.getCounts(),
    };
  }),
} satisfies SomeMethods;

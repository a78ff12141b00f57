/** Methods about which sessions there are, which are open, and who follows them. */
import { nonEmptyText, object, oneOf, optional, wholeNumber } from "@tau/config/fields";
import { listFields, searchFields, toSearchData, toSearchOptions } from "@tau/harness/host";
import { canResume } from "../bridge/session-feed.ts";
import { GatewayError } from "../errors.ts";
import type { OpenSession } from "../sessions/open-session.ts";
import { getSessionStatus, toListedSession } from "../sessions/session-status.ts";
import { listTreeEntries } from "../sessions/tree-entry.ts";
import { atSession, here, method, type MethodContext, type SomeMethods } from "./method.ts";

const onDisconnectField = optional(oneOf("continue", "stop"));
const sessionId = nonEmptyText;

const maxListed = 100;

export const sessionsMethods = {
  "sessions.list": method(
    here,
    listFields,
    // Every directory is listed, whatever `all` says.
    async ({ parts }, { limit = maxListed, all: _all, ...filter }) => {
      if (parts.cluster) return await parts.cluster.catalogue.list({ limit, ...filter });
      parts.sessions.markChanges();
      const page = await parts.sessionIndex.list({ ...filter, limit: Math.min(limit, maxListed) });
      const sessions = await Promise.all(
        page.sessions.map(async (info) => {
          const isCut = parts.runs.wasCut(info.id);
          const status = isCut ? "interrupted" : await getSessionStatus(info, parts.sessions.find(info.id));
          return toListedSession(info, status);
        }),
      );
      return { sessions, ...(page.cursor !== undefined && { cursor: page.cursor }) };
    },
  ),
  "sessions.search": method(here, searchFields, async ({ parts }, params) =>
    toSearchData(await parts.sessionIndex.search(toSearchOptions(params))),
  ),
  "sessions.create": method(
    here,
    { cwd: nonEmptyText, agent: optional(nonEmptyText), name: optional(nonEmptyText), onDisconnect: onDisconnectField },
    async (context, { cwd, agent, name, onDisconnect }) => {
      const { parts, client } = context;
      const open = await parts.sessions.create(cwd, {
        deviceId: client.deviceId,
        ...(agent !== undefined && { agentName: agent }),
        begin: async ({ hosted: { session } }) => {
          // What was answered holds after a restart too.
          await session.persist();
          parts.cluster?.catalogue.add(session.sessionId);
          if (name !== undefined) await session.sessionManager.appendSessionInfo(name.trim());
        },
      });
      return describe(context, open, onDisconnect);
    },
  ),
  "sessions.open": method(atSession, { sessionId, onDisconnect: onDisconnectField }, async (context, params) => {
    if (params.onDisconnect !== undefined && !context.client.scopes.has("write")) throw mayNotStop();
    const { parts, client } = context;
    return describe(context, await parts.sessions.open(params.sessionId, client.deviceId), params.onDisconnect);
  }),
  "sessions.close": method(atSession, { sessionId }, async ({ parts }, params) => {
    if (!parts.sessions.find(params.sessionId)) throw notOpen(params.sessionId);
    await parts.sessions.close(params.sessionId);
    return null;
  }),
  "sessions.subscribe": method(
    { kind: "session", follow: "begin" },
    {
      sessionId,
      resume: optional(object({ epoch: nonEmptyText, lastSeq: wholeNumber({ min: 0, unit: "events" }) })),
    },
    async ({ parts, client, afterResponse }, { resume, ...params }) => {
      const open = await parts.sessions.open(params.sessionId, client.deviceId);
      const { position } = open.hosted;
      const from = resume && { epoch: resume.epoch, seq: resume.lastSeq };
      // The events that come meanwhile are still there.
      const start = from && canResume(open.hosted, from) ? from : undefined;
      const follow = () => {
        if (parts.sessions.find(params.sessionId) === open) parts.subscriptions.add(client, open, start);
        else parts.subscriptions.tellClosed(client, params.sessionId, "closed");
      };
      if (afterResponse) afterResponse(follow);
      else follow();
      return { ...position, resumed: start !== undefined && open.hosted.hasEventsAfter(start.seq) };
    },
  ),
  "sessions.unsubscribe": method({ kind: "session", follow: "end" }, { sessionId }, ({ parts, client }, params) => {
    parts.subscriptions.remove(client, params.sessionId);
    return null;
  }),
  "sessions.tree": method(atSession, { sessionId }, async ({ parts, client }, params) =>
    parts.sessions.use(params.sessionId, client.deviceId, async (open) => {
      const { sessionManager } = open.hosted.session;
      const entries = listTreeEntries(await sessionManager.getEntries());
      return open.redact({ entries, leafId: sessionManager.getLeafId() });
    }),
  ),
  "sessions.watch": method(here, {}, ({ parts, client }) => {
    parts.sessionWatch.add(client);
    return null;
  }),
} satisfies SomeMethods;

function describe({ client }: MethodContext, open: OpenSession, onDisconnect: "continue" | "stop" | undefined) {
  if (onDisconnect !== undefined) open.setOnDisconnect(onDisconnect, client);
  return open.describe();
}

/** Clients that only read do not decide what happens to a run. */
const mayNotStop = (): GatewayError =>
  new GatewayError("forbidden", "onDisconnect needs the scope write, which this device does not have.");

const notOpen = (id: string): GatewayError =>
  new GatewayError("not_found", `The session ${JSON.stringify(id.slice(0, 128))} is not open.`);

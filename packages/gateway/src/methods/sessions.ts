/** Methods about which sessions are open, and who follows them. */
import { nonEmptyText, object, oneOf, optional, wholeNumber } from "@tau/harness/fields";
import { describe } from "../sessions/open-sessions.ts";
import { method, type SomeMethods } from "./method.ts";

const onDisconnect = optional(oneOf("continue", "stop"));

export const sessionsMethods = {
  "sessions.create": method(
    { cwd: nonEmptyText, agent: optional(nonEmptyText), name: optional(nonEmptyText), onDisconnect },
    async ({ parts }, { cwd, agent, name }) => {
      const { hosted } = await parts.sessions.create(cwd, agent);
      if (name !== undefined) await hosted.session.sessionManager.appendSessionInfo(name);
      return describe(hosted);
    },
  ),
  "sessions.open": method({ sessionId: nonEmptyText, onDisconnect }, async ({ parts }, { sessionId }) =>
    describe((await parts.sessions.open(sessionId)).hosted),
  ),
  "sessions.close": method({ sessionId: nonEmptyText }, async ({ parts }, { sessionId }) => {
    await parts.sessions.close(sessionId);
    return null;
  }),
  "sessions.subscribe": method(
    {
      sessionId: nonEmptyText,
      resume: optional(object({ epoch: nonEmptyText, lastSeq: wholeNumber({ min: 0, unit: "events" }) })),
    },
    async ({ parts, client }, { sessionId, resume }) => {
      const open = await parts.sessions.open(sessionId);
      const { position } = open.hosted;
      const from = resume?.epoch === position.epoch ? { epoch: resume.epoch, seq: resume.lastSeq } : undefined;
      // After the response, which says where the events begin.
      queueMicrotask(() => parts.subscriptions.add(client, open, from));
      return { ...position, resumed: from !== undefined };
    },
  ),
  "sessions.unsubscribe": method({ sessionId: nonEmptyText }, ({ parts, client }, { sessionId }) => {
    parts.subscriptions.remove(client, sessionId);
    return null;
  }),
} satisfies SomeMethods;

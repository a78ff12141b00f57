/** Messages that wait for their session, and those that were given up. */
import { nonEmptyText, oneOf, optional } from "@tau/config/fields";
import { withoutUndefined } from "@tau/ai/internal";
import { GatewayError } from "../errors.ts";
import type { InboxMessageData } from "@tau/protocol/gateway";
import { type StoredMessage, toMessageData } from "../inbox/message.ts";
import type { GatewayParts } from "../parts.ts";
import type { MethodRoute } from "../port/method-route.ts";
import { here, method, type SomeMethods } from "./method.ts";

/** With the place of its session in the line, if that waits for a run. */
function toListed({ waitingSessions }: GatewayParts, message: StoredMessage): InboxMessageData {
  const data = toMessageData(message);
  const position = message.state === "waiting" ? waitingSessions.getPosition(message.sessionId) : undefined;
  return position === undefined ? data : { ...data, position };
}

const atMessage: MethodRoute = { kind: "message" };

export const inboxMethods = {
  "inbox.list": method(
    here,
    { sessionId: optional(nonEmptyText), state: optional(oneOf("waiting", "dead")) },
    async ({ parts }, filter) => {
      const wanted = withoutUndefined(filter);
      const messages = (await parts.cluster?.inbox.listAll(wanted)) ?? parts.inbox.list(wanted);
      return { messages: messages.map((message) => toListed(parts, message)) };
    },
  ),
  "inbox.get": method(here, { idempotencyKey: nonEmptyText }, async ({ parts, requestKey = "" }) => {
    const request = parts.cluster
      ? await parts.cluster.inbox.findRequest(requestKey)
      : parts.inbox.findRequest(requestKey);
    if (request) return request;
    throw new GatewayError("not_found", "No message with this idempotency key was accepted from this device.");
  }),
  "inbox.replay": method(atMessage, { id: nonEmptyText }, async ({ parts, client }, { id }) =>
    toMessageData(await parts.inbox.replay(id, client.scopes)),
  ),
  "inbox.cancel": method(atMessage, { id: nonEmptyText }, async ({ parts }, { id }) => ({
    cancelled: await parts.inbox.cancel(id),
  })),
} satisfies SomeMethods;

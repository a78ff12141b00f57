/** Messages that wait for their session, and those that were given up. */
import { nonEmptyText, oneOf, optional } from "@tau/harness/fields";
import { withoutUndefined } from "@tau/ai/internal";
import { toMessageData } from "../inbox/message.ts";
import { method, type SomeMethods } from "./method.ts";

export const inboxMethods = {
  "inbox.list": method(
    { sessionId: optional(nonEmptyText), state: optional(oneOf("waiting", "dead")) },
    async ({ parts }, filter) => {
      const wanted = withoutUndefined(filter);
      const messages = (await parts.cluster?.inbox.listAll(wanted)) ?? parts.inbox.list(wanted);
      return { messages: messages.map(toMessageData) };
    },
  ),
  "inbox.replay": method({ id: nonEmptyText }, async ({ parts, client }, { id }) =>
    toMessageData(await parts.inbox.replay(id, client.scopes)),
  ),
  "inbox.cancel": method({ id: nonEmptyText }, async ({ parts }, { id }) => ({
    cancelled: await parts.inbox.cancel(id),
  })),
} satisfies SomeMethods;

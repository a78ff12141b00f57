/** What nodes of a cluster ask of the one that runs a session, besides the methods that clients have. */
import {
  type Fields,
  type FieldValues,
  flag,
  image,
  list,
  nonEmptyText,
  object,
  oneOf,
  optional,
  text,
} from "@tau/config/fields";
import { gatewayScopes } from "@tau/protocol/gateway";
import { encodeJson } from "../encoded-frame.ts";
import { queueMode } from "../inbox/accept-command.ts";
import { wakeCallName, wakeSession } from "../inbox/wake-session.ts";
import type { MethodContext } from "../methods/method.ts";
import { mustParse } from "../must-parse.ts";
import { acceptCallName } from "./accept-anywhere.ts";
import { answerChat, chatCallName } from "./answer-chat.ts";

/** Throws `invalid_parameters` for other parameters than those of this version. */
export type NodeCall = (context: MethodContext, params: unknown) => Promise<unknown>;

const chatFields = {
  sessionId: nonEmptyText,
  model: nonEmptyText,
  prompt: object({ text, images: list(image) }),
};

/** Those of `MessageDraft`. */
const acceptFields = {
  sessionId: nonEmptyText,
  text,
  images: optional(list(image)),
  isVerbatim: optional(flag),
  mode: queueMode,
  requestKey: optional(nonEmptyText),
  origin: object({
    kind: oneOf("client", "scheduled"),
    deviceId: optional(nonEmptyText),
    scopes: optional(list(oneOf(...gatewayScopes))),
  }),
};

export const nodeCalls: Readonly<Record<string, NodeCall>> = {
  [chatCallName]: createCall(chatFields, async ({ parts, client }, params) => {
    const gone = new AbortController();
    const stopWaiting = client.onClosed(() => gone.abort());
    try {
      return await answerChat(
        { parts, client, signal: gone.signal, tell: (step) => client.send(encodeJson(JSON.stringify(step))) },
        { ...params, history: [] },
      );
    } finally {
      stopWaiting();
    }
  }),
  [wakeCallName]: createCall(
    { sessionId: nonEmptyText },
    async ({ parts }, { sessionId }) => await wakeSession(parts, sessionId),
  ),
  [acceptCallName]: createCall(acceptFields, async ({ parts }, draft) => await parts.inbox.accept(draft)),
};

function createCall<F extends Fields>(
  fields: F,
  run: (context: MethodContext, params: FieldValues<F>) => Promise<unknown>,
): NodeCall {
  return async (context, params) => await run(context, mustParse(fields, params));
}

/** Calls that nodes of a cluster send to the one that runs a session, besides the methods that clients have. */
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
import { type ChatCommandName, chatCommands } from "../channels/chat-commands.ts";
import { commandCallName } from "../channels/run-chat-command.ts";
import { encodeJson } from "../encoded-frame.ts";
import { queueMode } from "../inbox/accept-command.ts";
import { wakeSession } from "../inbox/wake-session.ts";
import type { MethodContext } from "../methods/method.ts";
import { mustParse } from "../must-parse.ts";
import type { GatewayParts } from "../parts.ts";
import { type NodeCall, wakeCallName } from "../port/cluster.ts";
import { acceptCallName } from "./accept-anywhere.ts";
import { answerChat, chatCallName } from "./answer-chat.ts";
import { waitCallName, waitForNode } from "./wait-until-idle.ts";

const chatFields = {
  sessionId: nonEmptyText,
  model: optional(nonEmptyText),
  endsRun: optional(flag),
  prompt: object({ text, images: list(image) }),
};

/** The fields of `MessageDraft`. */
const acceptFields = {
  sessionId: nonEmptyText,
  text,
  images: optional(list(image)),
  isVerbatim: optional(flag),
  sender: optional(nonEmptyText),
  mode: queueMode,
  requestKey: optional(nonEmptyText),
  origin: object({
    kind: oneOf("client", "scheduled"),
    deviceId: optional(nonEmptyText),
    scopes: optional(list(oneOf(...gatewayScopes))),
    identity: optional(nonEmptyText),
  }),
};

/** The fields of `SessionChatCommand`. */
const commandFields = {
  sessionId: nonEmptyText,
  name: oneOf(...(Object.keys(chatCommands) as ChatCommandName[])),
  argument: text,
  identity: nonEmptyText,
};

/** Each by its name between nodes. */
export function createNodeCalls(parts: GatewayParts): Readonly<Record<string, NodeCall>> {
  const createCall =
    <F extends Fields>(
      fields: F,
      run: (context: MethodContext, params: FieldValues<F>) => Promise<unknown>,
    ): NodeCall =>
    async (context, params) =>
      await run({ ...context, parts }, mustParse(fields, params));
  return {
    [chatCallName]: createCall(chatFields, runChat),
    [wakeCallName]: createCall(
      { sessionId: nonEmptyText },
      async (_context, { sessionId }) => await wakeSession(parts, sessionId),
    ),
    [waitCallName]: createCall(
      { sessionId: nonEmptyText },
      async (context, { sessionId }) => await waitForNode(context, sessionId),
    ),
    [acceptCallName]: createCall(acceptFields, async (_context, draft) => await parts.inbox.accept(draft)),
    [commandCallName]: createCall(
      commandFields,
      async (_context, command) => await parts.channels.commands.runHere(command),
    ),
  };
}

async function runChat({ parts, client }: MethodContext, params: FieldValues<typeof chatFields>): Promise<unknown> {
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
}

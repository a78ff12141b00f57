/** The commands of a session that are messages: they go through the inbox. */
import { withoutUndefined } from "@tau/ai/internal";
import { type Fields, flag, image, list, nonEmptyText, oneOf, optional, text } from "@tau/config/fields";
import type { CommandName } from "@tau/protocol";
import type { QueueMode } from "@tau/protocol/gateway";
import { formatSentMessage } from "@tau/protocol/surface";
import type { Client } from "../client.ts";
import { mustParse } from "../must-parse.ts";
import type { GatewayParts } from "../parts.ts";
import type { Answer } from "./answers.ts";

export const queueMode = oneOf("steer", "followup", "collect", "interrupt");

const content = { message: text, images: optional(list(image)) } satisfies Fields;

/** The parameters of each of them, as in `CommandParams`. */
const messageFields = {
  prompt: {
    ...content,
    streamingBehavior: optional(oneOf("steer", "followUp")),
    queueMode: optional(queueMode),
  },
  steer: { ...content, interrupt: optional(flag) },
  follow_up: { ...content, sender: optional(nonEmptyText) },
} satisfies Partial<Record<CommandName, Fields>>;

type MessageCommand = keyof typeof messageFields;

export const isMessageCommand = (name: CommandName): name is MessageCommand => Object.hasOwn(messageFields, name);

interface MessageParams {
  message: string;
  images?: { type: "image"; data: string; mimeType: string }[];
  streamingBehavior?: "steer" | "followUp";
  queueMode?: QueueMode;
  interrupt?: boolean;
  sender?: string;
}

/** Where a message goes while its session is busy. Pure. */
function chooseMode(name: MessageCommand, params: MessageParams, usual: QueueMode): QueueMode {
  if (name === "follow_up") return "followup";
  if (name === "steer") return params.interrupt === true ? "interrupt" : "steer";
  if (params.queueMode) return params.queueMode;
  if (params.streamingBehavior) return params.streamingBehavior === "steer" ? "steer" : "followup";
  return usual;
}

export async function acceptCommand(
  { parts, client, requestKey }: { parts: GatewayParts; client: Client; requestKey?: string },
  name: MessageCommand,
  { sessionId, ...fields }: Record<string, unknown> & { sessionId: string },
): Promise<{ messageId: string } & Answer> {
  const params = mustParse(messageFields[name], fields) as MessageParams;
  const { message, images, sender } = params;
  return await parts.inbox.accept({
    sessionId,
    text: sender === undefined ? message : formatSentMessage(sender, message),
    ...withoutUndefined({ images, requestKey, sender }),
    mode: chooseMode(name, params, parts.getSettings().queue.mode),
    origin: { kind: "client", deviceId: client.deviceId, scopes: [...client.scopes] },
  });
}

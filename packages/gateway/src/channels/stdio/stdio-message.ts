/** Reads what a program of a stdio channel, or a caller of a webhook channel, writes. Pure. */
import { flag, list, nonEmptyText, object, oneOf, optional, parseFields, text } from "@tau/config/fields";
import { withoutUndefined } from "@tau/ai/internal";
import { peerKinds } from "../../routing/index.ts";
import type { ChannelAddress, ChannelFile, ChannelPress, IncomingMessage } from "@tau/extensions";

const address = object({ channelId: nonEmptyText, threadId: optional(nonEmptyText) });
const sender = object({ id: nonEmptyText, name: optional(text) });
const peer = object({ kind: oneOf(...peerKinds), id: nonEmptyText });

const messageFields = {
  type: oneOf("message"),
  id: nonEmptyText,
  address,
  sender,
  text,
  peer: optional(peer),
  parentPeer: optional(peer),
  guildId: optional(nonEmptyText),
  roles: optional(list(nonEmptyText)),
  teamId: optional(nonEmptyText),
  isMentioned: optional(flag),
  files: optional(list(object({ name: nonEmptyText, mimeType: nonEmptyText, data: text }))),
};

const pressFields = { type: oneOf("press"), id: optional(nonEmptyText), address, sender, value: nonEmptyText };

type ParsedLine =
  | { readonly kind: "message"; readonly message: IncomingMessage }
  | { readonly kind: "press"; readonly press: ChannelPress }
  | { readonly kind: "wrong"; readonly reason: string };

/** A message without `peer` is of a direct conversation with its sender. */
export function parseStdioMessage(value: Record<string, unknown>): ParsedLine {
  if (value["type"] === "press") {
    const parsed = parseFields(pressFields, value);
    if (parsed.kind === "wrong") return { kind: "wrong", reason: parsed.message };
    const { values } = parsed;
    const press = {
      address: toAddress(values.address),
      sender: { id: values.sender.id, name: values.sender.name ?? "" },
      value: values.value,
    };
    return { kind: "press", press };
  }
  const parsed = parseFields(messageFields, value);
  if (parsed.kind === "wrong") return { kind: "wrong", reason: parsed.message };
  const { id, text: content, isMentioned = false, files = [], guildId, roles, teamId, parentPeer } = parsed.values;
  const from = { id: parsed.values.sender.id, name: parsed.values.sender.name ?? "" };
  const message: IncomingMessage = {
    id,
    address: toAddress(parsed.values.address),
    sender: from,
    text: content,
    peer: parsed.values.peer ?? { kind: "direct", id: from.id },
    isMentioned,
    ...withoutUndefined({ parentPeer, guildId, roles, teamId }),
    ...(files.length > 0 && { loadFiles: async () => files.map(decodeFile) }),
  };
  return { kind: "message", message };
}

const toAddress = ({ channelId, threadId }: { channelId: string; threadId?: string | undefined }): ChannelAddress => ({
  channelId,
  ...(threadId !== undefined && { threadId }),
});

const decodeFile = ({ name, mimeType, data }: { name: string; mimeType: string; data: string }): ChannelFile => ({
  name,
  mimeType,
  bytes: Buffer.from(data, "base64"),
});

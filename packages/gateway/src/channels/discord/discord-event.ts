/** Reads what Discord's gateway sends. Pure. */
import {
  type APIAttachment,
  type APIInteraction,
  type APIMessage,
  InteractionType,
  MessageType,
} from "@discordjs/core";
import type { ChannelAddress, ChannelPress, IncomingMessage } from "@tau/extensions";

/** Where a message is written. Threads are channels of their own, which belong to another. */
export type DiscordPlace =
  | { readonly kind: "direct" }
  | { readonly kind: "channel"; readonly guildId: string }
  | { readonly kind: "thread"; readonly guildId: string; readonly parentId: string };

/** The account itself, in the guild of a message. */
interface DiscordSelf {
  readonly id: string;
  readonly roles: readonly string[];
}

/** A file that came with a message, before it is loaded. */
export type DiscordFile = Pick<APIAttachment, "filename" | "size" | "url" | "content_type">;

/** A message of the gateway, or of the history, which has no `member`. */
export type DiscordMessage = APIMessage & {
  readonly guild_id?: string;
  readonly member?: { readonly nick?: string | null; readonly roles: readonly string[] };
};

interface ParsedMessage {
  readonly message: Omit<IncomingMessage, "loadFiles">;
  readonly files: readonly DiscordFile[];
}

/** False for messages of bots, of webhooks and of Discord itself: two bots that answer each other would never end. */
export const isByPerson = ({ author, webhook_id: webhookId, type }: DiscordMessage): boolean =>
  author.bot !== true &&
  author.system !== true &&
  webhookId === undefined &&
  (type === MessageType.Default || type === MessageType.Reply);

/** Undefined for what nobody answers: messages of bots, of webhooks and of Discord itself, and empty ones. */
export function parseMessage(
  message: DiscordMessage,
  place: DiscordPlace,
  self: DiscordSelf,
): ParsedMessage | undefined {
  const { id, channel_id: channelId, author, member } = message;
  if (!isByPerson(message) || author.id === self.id) return undefined;
  const text = withoutMention(listTexts(message).join("\n"), self);
  const files = [
    ...message.attachments,
    ...(message.message_snapshots ?? []).flatMap((each) => each.message.attachments),
  ];
  const isNamed = isMentioned(message, self);
  if (text === "" && files.length === 0 && (place.kind === "direct" || !isNamed)) return undefined;
  return {
    files,
    message: {
      id,
      address: getAddress(channelId, place),
      ...getConversation(channelId, place, author.id),
      ...(member && { roles: member.roles }),
      sender: { id: author.id, name: member?.nick ?? author.global_name ?? author.username },
      text,
      isMentioned: isNamed,
    },
  };
}

/** Undefined for interactions that are no buttons. */
export function parsePress(interaction: APIInteraction, place: DiscordPlace): ChannelPress | undefined {
  if (interaction.type !== InteractionType.MessageComponent || interaction.channel === undefined) return undefined;
  const user = interaction.member?.user ?? interaction.user;
  if (!user || user.bot === true) return undefined;
  return {
    address: getAddress(interaction.channel.id, place),
    sender: { id: user.id, name: interaction.member?.nick ?? user.global_name ?? user.username },
    value: interaction.data.custom_id,
  };
}

/** The text of a message, or those of the messages that it forwards. */
const listTexts = ({ content, message_snapshots: snapshots = [] }: DiscordMessage): string[] =>
  [content, ...snapshots.map(({ message }) => message.content)].filter((text) => text !== "");

const getAddress = (channelId: string, place: DiscordPlace): ChannelAddress =>
  place.kind === "thread" ? { channelId: place.parentId, threadId: channelId } : { channelId };

/** Facts about the conversation, for routes. */
function getConversation(channelId: string, place: DiscordPlace, senderId: string) {
  switch (place.kind) {
    case "direct":
      return { peer: { kind: "direct" as const, id: senderId } };
    case "channel":
      return { peer: { kind: "channel" as const, id: channelId }, guildId: place.guildId };
    case "thread":
      return {
        peer: { kind: "thread" as const, id: channelId },
        parentPeer: { kind: "channel" as const, id: place.parentId },
        guildId: place.guildId,
      };
  }
}

/** Whether the account or a role of its own is named, or one of its messages is answered. Naming everyone is not enough. */
const isMentioned = (message: DiscordMessage, { id, roles }: DiscordSelf): boolean =>
  message.mentions.some((user) => user.id === id) ||
  message.mention_roles.some((role) => roles.includes(role)) ||
  (message.type === MessageType.Reply && message.referenced_message?.author.id === id);

const withoutMention = (text: string, { id }: DiscordSelf): string =>
  text.replaceAll(new RegExp(`<@!?${id.replaceAll(/\D/g, "")}>`, "g"), "").trim();

/** Reads updates of Telegram's Bot API. Pure. */
import { isRecord } from "@tau/ai/internal";
import type { ChannelAddress, ChannelPress, IncomingMessage } from "@tau/extensions";

/** The account itself. */
export interface TelegramBot {
  readonly id: number;
  readonly username: string;
}

/** A file that came with a message, before it is loaded. */
interface TelegramFile {
  readonly fileId: string;
  readonly name: string;
  readonly mimeType: string;
}

export type TelegramUpdate =
  | { readonly kind: "message"; readonly message: Omit<IncomingMessage, "loadFiles">; readonly files: TelegramFile[] }
  | { readonly kind: "press"; readonly press: ChannelPress; readonly queryId: string }
  | { readonly kind: "other" };

type Fields = Record<string, unknown>;

const toRecord = (value: unknown): Fields => (isRecord(value) ? value : {});
const toText = (value: unknown): string => (typeof value === "string" ? value : "");
const toId = (value: unknown): string => (typeof value === "number" || typeof value === "string" ? String(value) : "");

export function parseUpdate(update: unknown, bot: TelegramBot): TelegramUpdate {
  const { message, callback_query: query } = toRecord(update);
  if (isRecord(message)) return parseMessage(message, bot);
  if (isRecord(query)) {
    const press = {
      address: getAddress(toRecord(query["message"])),
      sender: getSender(toRecord(query["from"])),
      value: toText(query["data"]),
    };
    return { kind: "press", press, queryId: toText(query["id"]) };
  }
  return { kind: "other" };
}

function parseMessage(message: Fields, bot: TelegramBot): TelegramUpdate {
  const [chat, from] = [toRecord(message["chat"]), toRecord(message["from"])];
  // Other bots are not answered: two of them would talk for ever.
  if (from["is_bot"] === true || toId(from["id"]) === "" || toId(chat["id"]) === "") return { kind: "other" };
  const text = toText(message["text"] ?? message["caption"]);
  const address = getAddress(message);
  const isPrivate = chat["type"] === "private";
  const group = { kind: "group" as const, id: toId(chat["id"]) };
  const { threadId } = address;
  const peer = isPrivate
    ? { kind: "direct" as const, id: toId(from["id"]) }
    : threadId === undefined
      ? group
      : { kind: "thread" as const, id: threadId };
  return {
    kind: "message",
    files: listFiles(message),
    message: {
      id: `${toId(chat["id"])}/${toId(message["message_id"])}`,
      address,
      peer,
      ...(!isPrivate && threadId !== undefined && { parentPeer: group }),
      sender: getSender(from),
      text: withoutMention(text, bot),
      isMentioned: isMentioned(message, text, bot),
    },
  };
}

/** Topics of a forum have conversations of their own. */
function getAddress(message: Fields): ChannelAddress {
  const threadId = message["is_topic_message"] === true ? toId(message["message_thread_id"]) : "";
  return { channelId: toId(toRecord(message["chat"])["id"]), ...(threadId !== "" && { threadId }) };
}

function getSender(from: Fields) {
  const name = [from["first_name"], from["last_name"]].map(toText).join(" ").trim();
  return { id: toId(from["id"]), name };
}

/** Whether the account is named, is answered, or gets a command. */
function isMentioned(message: Fields, text: string, { id, username }: TelegramBot): boolean {
  if (toId(toRecord(toRecord(message["reply_to_message"])["from"])["id"]) === String(id)) return true;
  const entities = message["entities"] ?? message["caption_entities"];
  return (Array.isArray(entities) ? entities : []).map(toRecord).some((entity) => {
    if (entity["type"] === "text_mention") return toId(toRecord(entity["user"])["id"]) === String(id);
    const [offset, length] = [Number(entity["offset"]), Number(entity["length"])];
    const word = text.slice(offset, offset + length).toLowerCase();
    if (entity["type"] === "mention") return word === `@${username.toLowerCase()}`;
    return entity["type"] === "bot_command" && word.endsWith(`@${username.toLowerCase()}`);
  });
}

const withoutMention = (text: string, { username }: TelegramBot): string =>
  text.replaceAll(new RegExp(`@${username.replaceAll(/\W/g, "")}\\b`, "gi"), "").trim();

/** Lists the files of a message; a picture in its largest size. */
function listFiles(message: Fields): TelegramFile[] {
  const photos = Array.isArray(message["photo"]) ? message["photo"].map(toRecord) : [];
  const photo = photos.at(-1);
  const documents = (["document", "audio", "voice", "video"] as const)
    .map((kind) => ({ kind, file: toRecord(message[kind]) }))
    .filter(({ file }) => toText(file["file_id"]) !== "")
    .map(({ kind, file }) => ({
      fileId: toText(file["file_id"]),
      name: toText(file["file_name"]) || kind,
      mimeType: toText(file["mime_type"]) || "application/octet-stream",
    }));
  if (!photo || toText(photo["file_id"]) === "") return documents;
  return [{ fileId: toText(photo["file_id"]), name: "photo.jpg", mimeType: "image/jpeg" }, ...documents];
}

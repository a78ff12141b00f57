/** Reads events, presses of buttons and slash commands of Slack. Pure. */
import { isRecord } from "@tau/ai/internal";
import type { ChannelAddress, ChannelPress, IncomingMessage } from "@tau/extensions";
import { parseChatCommand } from "../chat-commands.ts";
import { mentionsUser, toPlainText } from "./slack-text.ts";

/** The account itself. */
export interface SlackBot {
  readonly userId: string;
  readonly teamId: string;
}

/** A file that came with a message, before it is loaded. */
export interface SlackFile {
  readonly id: string;
  readonly name: string;
  readonly mimeType: string;
  /** Empty if Slack has to be asked for it. */
  readonly url: string;
}

type SlackUpdate =
  | {
      readonly kind: "message";
      /** The sender's name is empty: events have only ids. */
      readonly message: Omit<IncomingMessage, "loadFiles">;
      /** The sender's id for Slack; that of `message` names the team too. */
      readonly userId: string;
      readonly files: readonly SlackFile[];
    }
  | { readonly kind: "press"; readonly press: ChannelPress }
  /** Slack has left out events, because there were too many. */
  | { readonly kind: "left_out" }
  | { readonly kind: "other" };

type Fields = Readonly<Record<string, unknown>>;

const toRecord = (value: unknown): Fields => (isRecord(value) ? value : {});
const toText = (value: unknown): string => (typeof value === "string" ? value : "");
const toList = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isRecord) : []);
const firstText = (...values: readonly unknown[]): string => values.map(toText).find((text) => text !== "") ?? "";

/** Kinds of messages that a person wrote. All others report changes, joins, or what other programs say. */
const writtenSubtypes: readonly unknown[] = [undefined, "file_share", "me_message", "thread_broadcast"];

/** `type` is that of the envelope in socket mode; requests over HTTP have the same contents. */
export function parseSlackUpdate(type: string, body: unknown, bot: SlackBot): SlackUpdate {
  switch (type) {
    case "events_api":
      return parseEvent(toRecord(body), bot);
    case "interactive":
      return parseInteraction(toRecord(body));
    case "slash_commands":
      return parseSlashCommand(toRecord(body), bot);
    default:
      return { kind: "other" };
  }
}

function parseEvent(body: Fields, bot: SlackBot): SlackUpdate {
  if (body["type"] === "app_rate_limited") return { kind: "left_out" };
  const event = toRecord(body["event"]);
  const isMessage = event["type"] === "message" || event["type"] === "app_mention";
  if (!isMessage || !writtenSubtypes.includes(event["subtype"]) || event["hidden"] === true) return { kind: "other" };
  const [channelId, ts, userId] = [toText(event["channel"]), toText(event["ts"]), toText(event["user"])];
  if (channelId === "" || ts === "" || userId === "") return { kind: "other" };
  // Other bots are not answered: two of them would talk for ever. Slack's own has no id of a bot.
  if (toText(event["bot_id"]) !== "" || userId === bot.userId || userId === "USLACKBOT") return { kind: "other" };
  const text = toText(event["text"]);
  const teamId = toText(body["team_id"]) || bot.teamId;
  const address = toAddress(channelId, ts, event["thread_ts"]);
  const senderId = toIdentity(firstText(event["user_team"], event["team"], teamId), userId);
  const { files, missing } = listFiles(event["files"]);
  return {
    kind: "message",
    userId,
    files,
    message: {
      // An event of a message and one of a mention are the same message.
      id: `${channelId}/${ts}`,
      address,
      ...toPeers(address, senderId),
      teamId,
      sender: { id: senderId, name: "" },
      text: [toPlainText(text, bot.userId), ...missing].filter((line) => line !== "").join("\n"),
      isMentioned:
        event["type"] === "app_mention" ||
        mentionsUser(text, bot.userId) ||
        // An answer in a thread that the account began.
        event["parent_user_id"] === bot.userId,
    },
  };
}

/** A command such as `/tau status` in Slack's own field for commands. Without a command, the text is a message. */
function parseSlashCommand(body: Fields, bot: SlackBot): SlackUpdate {
  const [channelId, userId] = [toText(body["channel_id"]), toText(body["user_id"])];
  const triggerId = toText(body["trigger_id"]);
  if (channelId === "" || userId === "" || triggerId === "") return { kind: "other" };
  const typed = toPlainText(toText(body["text"]), bot.userId) || "help";
  const teamId = toText(body["team_id"]) || bot.teamId;
  const senderId = toIdentity(teamId, userId);
  const address = { channelId };
  return {
    kind: "message",
    userId,
    files: [],
    message: {
      id: `${channelId}/command/${triggerId}`,
      address,
      ...toPeers(address, senderId),
      teamId,
      sender: { id: senderId, name: "" },
      text: parseChatCommand(`/${typed}`) ? `/${typed}` : typed,
      isMentioned: true,
    },
  };
}

function parseInteraction(payload: Fields): SlackUpdate {
  const [action] = toList(payload["actions"]);
  const [user, message, container] = [payload["user"], payload["message"], payload["container"]].map(toRecord);
  const [userId, channelId] = [toText(user!["id"]), toText(toRecord(payload["channel"])["id"])];
  const value = toText(action?.["value"]);
  if (payload["type"] !== "block_actions" || value === "" || userId === "" || channelId === "") {
    return { kind: "other" };
  }
  const ts = firstText(message!["ts"], container!["message_ts"]);
  const threadTs = firstText(message!["thread_ts"], container!["thread_ts"]);
  const teamId = firstText(user!["team_id"], toRecord(payload["team"])["id"]);
  const sender = { id: toIdentity(teamId, userId), name: firstText(user!["username"], user!["name"]) };
  return { kind: "press", press: { address: toAddress(channelId, ts, threadTs), sender, value } };
}

/** Ids of users are unique in their team only, and people of other teams write in channels that are shared. */
const toIdentity = (teamId: string, userId: string): string => `${teamId}/${userId}`;

/** The first message of a thread is a message of its channel. */
const toAddress = (channelId: string, ts: string, threadTs: unknown): ChannelAddress => ({
  channelId,
  ...(toText(threadTs) !== "" && threadTs !== ts && { threadId: toText(threadTs) }),
});

/**
 * A thread of a direct conversation belongs to it. All other conversations are channels, also private ones and groups of a
 * few: the event of a mention does not say which it is.
 */
function toPeers(
  { channelId, threadId }: ChannelAddress,
  senderId: string,
): Pick<IncomingMessage, "peer" | "parentPeer"> {
  if (channelId.startsWith("D")) return { peer: { kind: "direct", id: senderId } };
  const channel = { kind: "channel", id: channelId } as const;
  if (threadId === undefined) return { peer: channel };
  return { peer: { kind: "thread", id: threadId }, parentPeer: channel };
}

/** Files that Slack does not have itself, or does not give, are only named: `missing` says so to the model. */
function listFiles(value: unknown): { files: SlackFile[]; missing: string[] } {
  const [files, missing]: [SlackFile[], string[]] = [[], []];
  for (const file of toList(value)) {
    const name = firstText(file["name"], file["title"]) || "file";
    const [id, mode] = [toText(file["id"]), toText(file["mode"])];
    const isHere = id !== "" && !["external", "tombstone", "hidden_by_limit"].includes(mode);
    if (!isHere) missing.push(`(The file ${JSON.stringify(name)} could not be loaded from Slack.)`);
    else {
      const url = firstText(file["url_private_download"], file["url_private"]);
      files.push({ id, name, mimeType: toText(file["mimetype"]) || "application/octet-stream", url });
    }
  }
  return { files, missing };
}

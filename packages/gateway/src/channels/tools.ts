/** The tools with which the agent of a conversation acts in its channel. */
import { basename, extname, resolve } from "node:path";
import type { Clock, Ids } from "@tau/ai";
import { isRecord } from "@tau/ai/internal";
import type { PipelineTool } from "@tau/harness";
import { isWithin, ToolsError } from "@tau/tools";
import type { Account } from "./accounts.ts";
import type { FileCopies } from "./file-copies.ts";
import type { ChannelOutbox } from "./outbox.ts";
import type { Conversation } from "./records.ts";
import { createReplies } from "./session-replies.ts";

interface ChannelToolParts {
  /** The type of the channel: tools are called after it. */
  type: string;
  /** The session's directory. Files of others are not sent. */
  cwd: string;
  getConversation: () => Conversation | undefined;
  findAccount: (accountId: string) => Account | undefined;
  outbox: ChannelOutbox;
  /** Takes known secrets out of a text. */
  redact: (text: string) => string;
  fileCopies: FileCopies;
  clock: Clock;
  ids: Ids;
}

/** Names of the tool for reactions where it is not `TYPE_reaction`, by type. */
const reactionNames: Readonly<Record<string, string>> = { discord: "discord_add_reaction" };

/** The names of the tools of a channel. */
export const getToolNames = (type: string) => ({
  reply: `${type}_reply`,
  react: reactionNames[type] ?? `${type}_reaction`,
  sendFile: `${type}_send_file`,
});

export function createChannelTools(parts: ChannelToolParts): PipelineTool[] {
  const { type, cwd, outbox, redact, fileCopies, clock, ids } = parts;
  const names = getToolNames(type);
  /** The conversation as it is now: the message that is answered changes with each one that comes. */
  const open = () => {
    const conversation = parts.getConversation();
    const account = conversation && parts.findAccount(conversation.accountId);
    if (!conversation || !account) throw new ToolsError("unavailable", "The channel is not connected now.");
    return { conversation, channel: account.channel };
  };
  const isForConversation = (name: string) => [{ capability: "session", target: { kind: "name", name } }] as const;
  return [
    {
      name: names.reply,
      label: "Reply",
      description:
        "Send a message to the conversation now, before the answer is complete. The answer itself is sent without this tool.",
      parameters: toSchema({ text: "The message, in Markdown." }),
      isContained: true,
      access: () => [...isForConversation(names.reply)],
      async execute(toolCallId, args) {
        const { conversation, channel } = open();
        const { maxTextLength } = channel.limits;
        const id = `tool/${conversation.sessionId}/${toolCallId}`;
        await outbox.add(
          createReplies(redact(getField(args, "text")), id, { conversation, maxTextLength, nowMs: clock.now() }),
        );
        return toResult("The message is sent.");
      },
    },
    {
      name: names.react,
      label: "React",
      description: "Add an emoji as a reaction to the message that is being answered.",
      parameters: toSchema({ emoji: "The emoji." }),
      isContained: true,
      access: () => [...isForConversation(names.react)],
      async execute(_toolCallId, args) {
        const { conversation, channel } = open();
        if (!channel.react) throw new ToolsError("unavailable", "The channel has no reactions.");
        const { address, sourceMessageId } = conversation;
        const delivery = await channel.react(address, sourceMessageId, getField(args, "emoji"));
        if (delivery.kind !== "sent") throw new ToolsError("failed", `The reaction was not added: ${delivery.reason}`);
        return toResult("The reaction is there.");
      },
    },
    {
      name: names.sendFile,
      label: "Send a file",
      description: "Send a file of the workspace to the conversation.",
      parameters: toSchema({ path: "The file." }),
      isContained: true,
      access: (args: unknown) => {
        const path = resolve(cwd, getField(args, "path"));
        // Nobody is asked about a file that is refused anyway.
        return isWithin(cwd, path) ? [{ capability: "read", target: { kind: "path", path } }] : [];
      },
      async execute(toolCallId, args, _signal, _onUpdate, context) {
        const { conversation, channel } = open();
        if (!channel.sendFile) throw new ToolsError("unavailable", "The channel takes no files.");
        if (!context) throw new ToolsError("unavailable", "The file cannot be read here.");
        const wanted = resolve(cwd, getField(args, "path"));
        if (!isWithin(cwd, wanted)) throw new ToolsError("denied", outsideText);
        const { bytes, realPath } = await context.files.readWhole(wanted, channel.limits.maxFileBytes);
        // A link may lead elsewhere.
        if (!isWithin(await context.files.realPath(cwd), realPath)) throw new ToolsError("denied", outsideText);
        // What is sent is what was read now, also if that happens after a restart.
        const path = await fileCopies.add(ids(), bytes);
        const name = basename(realPath);
        const { sessionId, accountId, address, sourceMessageId: replyTo } = conversation;
        const reply = { id: `tool/${sessionId}/${toolCallId}/0`, sessionId, accountId, address, replyTo };
        const file = { path, name, mimeType: getMimeType(name) };
        await outbox.add([{ ...reply, text: "", file, recordedAt: clock.now() }]);
        return toResult(`${name} is sent.`);
      },
    },
  ];
}

const outsideText = "Only files of the workspace can be sent.";

const mimeTypes: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
  ".pdf": "application/pdf",
  ".txt": "text/plain",
  ".md": "text/markdown",
  ".csv": "text/csv",
  ".json": "application/json",
};

const getMimeType = (name: string): string => mimeTypes[extname(name).toLowerCase()] ?? "application/octet-stream";

/** All parameters are texts, and all are needed. */
const toSchema = (texts: Readonly<Record<string, string>>) => ({
  type: "object" as const,
  properties: Object.fromEntries(
    Object.entries(texts).map(([name, description]) => [name, { type: "string" as const, minLength: 1, description }]),
  ),
  required: Object.keys(texts),
});

const getField = (args: unknown, name: string): string => (isRecord(args) ? String(args[name] ?? "") : "");

const toResult = (text: string) => ({ content: [{ type: "text" as const, text }], details: undefined });

/** Executes the commands that people type in a chat, and says what came of them. */
import { getErrorMessage } from "@tau/ai/internal";
import type { OpenSession } from "../sessions/open-session.ts";
import { type ChatCommand, formatChatHelp } from "./chat-commands.ts";
import type { Conversation } from "./records.ts";

export interface ChatCommandContext {
  readonly command: ChatCommand;
  /** Whether the question is one to the person who types it. */
  readonly mayApprove: (approvalId: string) => boolean;
  /** Undefined: nothing was said here yet. */
  readonly conversation: Conversation | undefined;
  /** Opens the session of the conversation. */
  readonly openSession: () => Promise<OpenSession | undefined>;
  /** Makes the next message begin a session. */
  readonly renew: () => Promise<void>;
  readonly queue: { get: () => string; set: (mode: string) => Promise<boolean> };
}

/** Returns what the person is told. */
export async function runChatCommand(context: ChatCommandContext): Promise<string> {
  try {
    return await run(context);
  } catch (error) {
    return getErrorMessage(error);
  }
}

const compactionSentences = {
  compacted: "The history is shorter now.",
  nothing: "There was nothing to shorten.",
  failed: "The history could not be shortened. Try again later.",
  aborted: "Shortening the history was stopped.",
} as const;

const nothingYet = "There is no session yet. Write something first.";

async function run(context: ChatCommandContext): Promise<string> {
  const { command, openSession, renew } = context;
  const { name, argument } = command;
  if (name === "help") return formatChatHelp();
  if (name === "new" || name === "reset") {
    const open = await openSession();
    if (open?.hosted.session.isStreaming) await open.hosted.abort("A new session was begun.");
    await renew();
    return "The next message begins a new session.";
  }
  if (name === "queue") return await setQueue(context);
  const open = await openSession();
  if (!open) return nothingYet;
  const { session } = open.hosted;
  const { sessionId } = session;
  switch (name) {
    case "status":
      return [
        `Model: ${session.model?.provider ?? "none"}/${session.model?.id ?? ""}`,
        `Thinking: ${session.thinkingLevel}`,
        session.isStreaming ? "A run is in progress." : "Nothing runs.",
        `Session: ${sessionId}`,
      ].join("\n");
    case "model":
      if (argument !== "") await session.setModel(argument);
      return `The model is ${session.model?.provider}/${session.model?.id}.`;
    case "think":
      if (argument !== "") await open.host.execute(sessionId, { type: "set_thinking_level", level: argument as never });
      return `The thinking level is ${session.thinkingLevel}.`;
    case "stop":
      if (!session.isStreaming) return "Nothing runs.";
      await open.hosted.abort();
      return "The run is stopped.";
    case "compact": {
      const outcome = await session.compact();
      return compactionSentences[outcome.kind];
    }
    case "approve":
      return approve(context, open);
  }
}

/** Only who the run is for may answer: somebody else in a group may not. */
async function approve({ command, mayApprove }: ChatCommandContext, { hosted }: OpenSession): Promise<string> {
  const [, id = "", answer = ""] = /^(\S+)\s+(yes|no)$/i.exec(command.argument) ?? [];
  if (id === "") return "Write /approve ID yes, or /approve ID no.";
  const isOpen = hosted.view.live.approvals.some((approval) => approval.id === id);
  if (isOpen && !mayApprove(id)) return "Only the person whose message is being answered can approve this.";
  const isTaken = await hosted.session.approve(id, { decision: answer.toLowerCase() === "yes" ? "allow" : "deny" });
  return isTaken ? "Noted." : "This question is not open any more.";
}

async function setQueue({ command, queue }: ChatCommandContext): Promise<string> {
  if (command.argument === "") return `Messages during a run: ${queue.get()}.`;
  if (!(await queue.set(command.argument))) return "The modes are steer, followup, collect and interrupt.";
  return `Messages during a run: ${command.argument}.`;
}

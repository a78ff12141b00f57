/** Executes the commands that people type in a chat, and says what came of them. */
import { getErrorMessage } from "@tau/ai/internal";
import { approve } from "@tau/harness/host";
import type { QueueMode } from "@tau/protocol/gateway";
import { isGatewayError, toFault } from "../errors.ts";
import type { ChannelLog } from "../log-lines.ts";
import type { OpenSession } from "../sessions/open-session.ts";
import type { OpenSessions } from "../sessions/open-sessions.ts";
import type { GatewaySettings } from "../settings.ts";
import { type ChatCommand, type ChatCommandName, formatChatHelp } from "./chat-commands.ts";
import type { Conversation } from "./records.ts";
import type { ChannelStore } from "./store.ts";

/** A command for the session of a conversation, as nodes of a cluster send it to the one that runs the session. */
interface SessionChatCommand {
  readonly sessionId: string;
  readonly name: ChatCommandName;
  readonly argument: string;
  /** The person who typed it. */
  readonly identity: string;
}

/** Runs a command where its session is. `here` runs it at this node. */
export type RunAtSession = (command: SessionChatCommand, here: () => Promise<string>) => Promise<string>;

/** The name of a `SessionChatCommand` between nodes. */
export const commandCallName = "channels.command";

interface ChatCommandParts {
  store: ChannelStore;
  sessions: OpenSessions;
  getSettings: () => GatewaySettings;
  runAtSession: RunAtSession;
  log: ChannelLog;
}

interface TypedCommand {
  readonly command: ChatCommand;
  readonly identity: string;
  /** Messages with the same key share a session. */
  readonly key: string;
  /** Undefined: nothing was said here yet. */
  readonly conversation: Conversation | undefined;
}

const queueModes: readonly string[] = ["steer", "followup", "collect", "interrupt"] satisfies QueueMode[];

const compactionSentences = {
  compacted: "The history is shorter now.",
  nothing: "There was nothing to shorten.",
  failed: "The history could not be shortened. Try again later.",
  aborted: "Shortening the history was stopped.",
} as const;

/** Errors whose words are for the person, because what they typed is the reason. */
const argumentCodes: readonly string[] = ["unknown_model", "invalid_parameters"];

const failedText = "That did not work. Try again, or ask whoever runs me to look at the log.";

const nothingYet = "There is no session yet. Write something first.";

export class ChatCommands {
  readonly #parts: ChatCommandParts;

  constructor(parts: ChatCommandParts) {
    this.#parts = parts;
  }

  /** Returns what the person is told. */
  async run(typed: TypedCommand): Promise<string> {
    const { name } = typed.command;
    if (name === "help") return formatChatHelp();
    try {
      if (name === "queue") return await this.#setQueue(typed);
      if (name === "new" || name === "reset") return await this.#renew(typed);
      return (await this.#runAtSession(typed)) ?? nothingYet;
    } catch (error) {
      const { code } = toFault(error);
      if (argumentCodes.includes(code)) return getErrorMessage(error);
      // Other errors name sessions, servers and directories.
      const { accountId = "" } = typed.conversation ?? {};
      this.#parts.log(`/${name} failed: ${getErrorMessage(error)}`, accountId);
      return failedText;
    }
  }

  /** Runs a command for a session that this node runs, or can open. */
  async runHere({ sessionId, name, argument, identity }: SessionChatCommand): Promise<string> {
    const open = await this.#parts.sessions.open(sessionId);
    const { session } = open.hosted;
    switch (name) {
      case "new":
      case "reset":
        if (session.isStreaming) await open.hosted.abort("A new session was begun.");
        return "";
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
        if (argument !== "")
          await open.host.execute(sessionId, { type: "set_thinking_level", level: argument as never });
        return `The thinking level is ${session.thinkingLevel}.`;
      case "stop":
        if (!session.isStreaming) return "Nothing runs.";
        await open.hosted.abort();
        return "The run is stopped.";
      case "compact":
        return compactionSentences[(await session.compact()).kind];
      case "approve":
        return await this.#approve(open, argument, identity);
      case "help":
      case "queue":
        throw new TypeError(`/${name} needs no session.`);
    }
  }

  /** Undefined if there is no session. */
  async #runAtSession({ command, identity, conversation }: TypedCommand): Promise<string | undefined> {
    // A question may be one of an earlier session of the conversation.
    const asked = command.name === "approve" && this.#parts.store.table.getAsked(parseApproval(command.argument).id);
    const { sessionId } = asked || (conversation ?? {});
    if (sessionId === undefined) return undefined;
    const call = { sessionId, ...command, identity };
    return await this.#parts.runAtSession(call, () => this.runHere(call));
  }

  async #renew(typed: TypedCommand): Promise<string> {
    const { store } = this.#parts;
    await this.#runAtSession(typed).catch((error: unknown) => {
      if (!isGatewayError(error) || error.code !== "not_found") throw error;
    });
    await store.append({ type: "renewed", key: typed.key, generation: store.table.getGeneration(typed.key) + 1 });
    return "The next message begins a new session.";
  }

  async #setQueue({ command: { argument }, key }: TypedCommand): Promise<string> {
    const { store, getSettings } = this.#parts;
    if (argument === "") return `Messages during a run: ${store.table.getQueueMode(key) ?? getSettings().queue.mode}.`;
    if (!queueModes.includes(argument)) return "The modes are steer, followup, collect and interrupt.";
    await store.append({ type: "queue", key, mode: argument as QueueMode });
    return `Messages during a run: ${argument}.`;
  }

  /** Only who the run is for may answer: somebody else in a group may not. */
  async #approve({ hosted }: OpenSession, argument: string, identity: string): Promise<string> {
    const { id, answer } = parseApproval(argument);
    if (id === "") return "Write /approve ID yes, or /approve ID no.";
    const asked = this.#parts.store.table.getAsked(id);
    if (asked && !asked.isResolved && asked.approver !== identity)
      return "Only the person whose message is being answered can approve this.";
    const decision = answer.toLowerCase() === "yes" ? "allow" : "deny";
    const isTaken =
      asked?.approver === identity && (await approve(hosted.session, id, { answer: { decision }, resume: true }));
    return isTaken ? "Noted." : "This question is not open any more.";
  }
}

/** `id` is empty if it is no answer. */
function parseApproval(argument: string): { id: string; answer: string } {
  const [, id = "", answer = ""] = /^(\S+)\s+(yes|no)$/i.exec(argument) ?? [];
  return { id, answer };
}

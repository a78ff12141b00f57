/**
 * The conversation as components. What was drawn once keeps its component, because its lines may be printed already and
 * must not be printed again.
 */
import type { AssistantMessage, ToolResultMessage } from "@tau/ai";
import type { LiveView, SessionEntry, SessionMessage, View } from "@tau/protocol";
import { type Component, Container, Spacer } from "@tau/tui";
import { AssistantBlock } from "./blocks/assistant-message.ts";
import { createNote } from "./blocks/note.ts";
import { ShellCommandBlock } from "./blocks/shell-command.ts";
import { ToolCallBlock } from "./blocks/tool-call.ts";
import { getShownText, UserMessageBlock } from "./blocks/user-message.ts";
import type { Look } from "./look.ts";

/** How many entries of a session are drawn when it is opened. */
const maxFirstEntries = 60;

export class Transcript extends Container {
  readonly #look: Look;
  readonly #now: () => number;
  #entries: readonly SessionEntry[] = [];
  readonly #calls = new Map<string, ToolCallBlock>();
  /** The ids of calls without a result. */
  readonly #awaited = new Set<string>();
  /** Commands of the user that are not in the log yet: they are running, or wait for the end of a turn. */
  #commands: readonly ShellCommandBlock[] = [];
  /** The answer that is arriving. */
  #live: { id: string; block: AssistantBlock } | undefined;
  /** The id of an answer that is in the log already, and may still be in the live view for a moment. */
  #loggedId: string | undefined;

  /** `now`: milliseconds, from any point on. */
  constructor(look: Look, now: () => number) {
    super();
    this.#look = look;
    this.#now = now;
  }

  update({ log, live }: View): void {
    if (log.entries !== this.#entries) this.#takeEntries(log.entries, log.hasOlder, live.message?.id);
    this.#takeLive(live);
    if (!live.run) this.#end();
  }

  /** A command that begins to run now. Its entry will find it. */
  addCommand(command: string): ShellCommandBlock {
    const block = new ShellCommandBlock(command, this.#look);
    this.#commands = [...this.#commands, block];
    this.#addBlock(block);
    return block;
  }

  override clear(): void {
    super.clear();
    this.#entries = [];
    this.#calls.clear();
    this.#awaited.clear();
    this.#commands = [];
    this.#live = undefined;
    this.#loggedId = undefined;
  }

  #takeEntries(entries: readonly SessionEntry[], hasOlder: boolean, liveId: string | undefined): void {
    const last = this.#entries.at(-1);
    const known = last === undefined ? -1 : entries.lastIndexOf(last);
    let fresh = entries.slice(known + 1);
    if (known === -1) {
      // Another branch or another session. Before the first entry there may be a command that is running.
      if (last !== undefined) this.clear();
      const isCut = fresh.length > maxFirstEntries;
      fresh = fresh.slice(-maxFirstEntries);
      if (isCut || hasOlder) this.addChild(createNote("Earlier messages are not shown here.", this.#look));
    }
    for (const entry of fresh) this.#addEntry(entry, liveId);
    this.#entries = entries;
  }

  #addEntry(entry: SessionEntry, liveId: string | undefined): void {
    switch (entry.type) {
      case "message":
        if (!entry.silent) this.#addMessage(entry.message, liveId);
        return;
      case "compaction":
        return this.#addNote(`Compacted: a summary takes the place of ${formatTokens(entry.tokensBefore)}.`);
      case "branch_summary":
        return this.#addNote(`A summary of the branch that was left:\n${entry.summary}`);
      case "custom_message":
        if (entry.display) this.#addNote(getShownText(entry.content));
        return;
      case "model_change":
        return this.#addChange(`Model: ${entry.provider}/${entry.modelId}`);
      case "thinking_level_change":
        return this.#addChange(`Thinking: ${entry.thinkingLevel}`);
      default:
        // Bookkeeping.
        return;
    }
  }

  #addMessage(message: SessionMessage, liveId: string | undefined): void {
    switch (message.role) {
      case "user":
        return this.#addBlock(new UserMessageBlock(message.content, this.#look));
      case "assistant":
        return this.#addAnswer(message, liveId);
      case "toolResult":
        return this.#addResult(message);
      case "bashExecution":
        return this.#takeCommand(message.command).setResult(message);
      case "custom":
        if (message.display) this.#addNote(getShownText(message.content));
        return;
      case "branchSummary":
      case "compactionSummary":
        return this.#addNote(message.summary);
      default:
        // A log may come from a program that knows more.
        message satisfies never;
    }
  }

  #addAnswer(message: AssistantMessage, liveId: string | undefined): void {
    const block = this.#live?.block ?? this.#createAnswer();
    this.#live = undefined;
    this.#loggedId = liveId;
    block.setMessage(message);
    for (const part of message.content) {
      if (part.type === "toolCall") this.#getCall(part.id, part.name).setInput(part.arguments);
    }
  }

  /** A result whose call is not shown, such as one before the first entry, is left out. */
  #addResult(message: ToolResultMessage): void {
    this.#calls.get(message.toolCallId)?.setResult(message);
    this.#awaited.delete(message.toolCallId);
  }

  #takeLive({ message, tools }: LiveView): void {
    if (message && message.id !== this.#loggedId) {
      if (this.#live?.id !== message.id) this.#live = { id: message.id, block: this.#createAnswer() };
      this.#live.block.setLive(message);
      for (const call of message.calls) this.#getCall(call.id, call.name).setArguments(call.arguments);
    }
    for (const tool of tools) this.#getCall(tool.id, tool.name).setRunning(tool);
  }

  /** After a run nothing that it left open changes any more, and nothing holds back what follows. */
  #end(): void {
    this.#live?.block.end();
    for (const id of this.#awaited) this.#calls.get(id)?.end();
    this.#awaited.clear();
  }

  #createAnswer(): AssistantBlock {
    const block = new AssistantBlock(this.#look);
    this.addChild(block);
    return block;
  }

  #getCall(id: string, name: string): ToolCallBlock {
    const known = this.#calls.get(id);
    if (known) return known;
    const block = new ToolCallBlock(name, this.#look, this.#now);
    this.#calls.set(id, block);
    this.#awaited.add(id);
    this.addChild(block);
    return block;
  }

  #takeCommand(command: string): ShellCommandBlock {
    const block = this.#commands.find((one) => one.command === command) ?? this.addCommand(command);
    this.#commands = this.#commands.filter((one) => one !== block);
    return block;
  }

  /** What a session begins with is in the status line. */
  #addChange(text: string): void {
    if (this.children.length > 0) this.#addNote(text);
  }

  #addNote(text: string): void {
    this.#addBlock(createNote(text, this.#look));
  }

  #addBlock(component: Component): void {
    this.addChild(new Spacer(1));
    this.addChild(component);
  }
}

const formatTokens = (tokens: number): string => `${Math.round(tokens / 1_000)}k tokens`;

/**
 * The conversation as components. What was drawn once keeps its component, because its lines may be printed already and
 * must not be printed again.
 */
import { isDeepStrictEqual } from "node:util";
import type { AgentToolResult } from "@tau/agent";
import type { AssistantMessage } from "@tau/ai";
import {
  type CustomEntry,
  type CustomMessage,
  customTypes,
  getModelUse,
  getNestedCall,
  getWithdrawnId,
  type LiveView,
  type LogView,
  type MessageEntry,
  type SessionEntry,
  type SessionMessage,
  type View,
} from "@tau/protocol";
import { formatModelChange, formatTokens, getFoldedLines, getText, toFields } from "@tau/protocol/surface";
import { type Component, Container, Markdown, Spacer } from "@tau/tui";
import { AssistantBlock, getTexts } from "./blocks/assistant-message.ts";
import { createFoldedNote, createNote } from "./blocks/note.ts";
import { OlderNote } from "./blocks/older-note.ts";
import { ShellCommandBlock } from "./blocks/shell-command.ts";
import { SummaryBlock } from "./blocks/summary.ts";
import { ToolCallBlock } from "./blocks/tool-call.ts";
import { getShownText, UserMessageBlock } from "./blocks/user-message.ts";
import { RenderedItem } from "./extensions/rendered-item.ts";
import type { Look } from "./look.ts";
import { ShownCalls } from "./shown-calls.ts";

/** How many entries of a session are drawn when it is opened. */
const maxFirstEntries = 60;

interface TranscriptOptions {
  look: Look;
  /** Milliseconds, from any point on. */
  now: () => number;
  /** Describes what stands in the place of older entries. */
  describeOlder: (log: LogView) => string;
  /** How many of these entries are drawn at once when a session is opened; the others with `drawRest`. Default: all of them. */
  countFirst?: (entries: readonly SessionEntry[]) => number;
}

/** Entries of the branch that are not shown: those before an entry, or all of them up to its end. */
export type Missing = { kind: "before"; id: string } | { kind: "end"; leafId: string | null };

/** Entries before those that are shown. Some of them may be at hand, and wait to be drawn. */
type Older = { kind: "none" } | { kind: "some"; note: OlderNote; undrawn?: Undrawn };

interface Undrawn {
  entries: readonly SessionEntry[];
  /** Whether there are others before them. */
  hasOlder: boolean;
}

export class Transcript extends Container {
  readonly #options: TranscriptOptions;
  readonly #look: Look;
  /** The entries of the view, as they were. */
  #entries: readonly SessionEntry[] = [];
  #leafId: string | null = null;
  /** The first entry that is shown; it need not be in the view any more. */
  #firstId: string | undefined;
  #older: Older = { kind: "none" };
  readonly #calls: ShownCalls;
  /** Commands of the user that are not in the log yet: they are running, or wait for the end of a turn. */
  #commands: readonly ShellCommandBlock[] = [];
  /** The answer that is arriving. */
  #live: { id: string; block: AssistantBlock } | undefined;
  /** The last answer that failed. While the run continues it may be asked for again, and what it said is replaced. */
  #failed: FailedAnswer | undefined;
  /**
   * The text that it left on the screen, some of which may be printed already. The next attempt often begins with the same
   * words.
   */
  #repeated: { block: AssistantBlock; said: string } | undefined;
  /** Whether something was said or run already. */
  #isBegun = false;
  /** The remarks at the end that were made since `keepRemarks`. */
  #remarks: Component[] = [];

  constructor(options: TranscriptOptions) {
    super();
    this.#options = options;
    this.#look = options.look;
    this.#calls = new ShownCalls((id, name) => this.#createCall(id, name));
  }

  /** Undefined if all is shown. */
  get missing(): Missing | undefined {
    if (this.#older.kind === "none") return undefined;
    return this.#firstId === undefined ? { kind: "end", leafId: this.#leafId } : { kind: "before", id: this.#firstId };
  }

  /** The first component of the entries that are shown. */
  get firstShown(): Component | undefined {
    return this.children[this.#older.kind === "some" ? 1 : 0];
  }

  /** Whether entries wait to be drawn. Nothing of the conversation is printed until then. */
  get hasUndrawn(): boolean {
    return this.#older.kind === "some" && this.#older.undrawn !== undefined;
  }

  /** Draws the entries that wait. */
  drawRest(): void {
    if (this.#older.kind === "none" || !this.#older.undrawn || !this.missing) return;
    const { note, undrawn } = this.#older;
    note.isHolding = false;
    this.#older = { kind: "some", note };
    this.addOlder(this.missing, undrawn.entries, undrawn.hasOlder);
  }

  update({ log, live }: View): void {
    this.#leafId = log.leafId;
    if (log.entries !== this.#entries) this.#takeEntries(log);
    this.#takeLive(live);
    if (!live.run) this.#end();
  }

  /** A command that begins to run now. Its entry will find it. */
  addCommand(command: string): ShellCommandBlock {
    const block = new ShellCommandBlock(command, this.#look);
    this.#commands = [...this.#commands, block];
    this.#isBegun = true;
    this.#addBlock(block);
    return block;
  }

  /** A command that could not be run: no entry follows. */
  forgetCommand(block: ShellCommandBlock): void {
    this.#commands = this.#commands.filter((other) => other !== block);
  }

  /** Puts entries before those that are shown. Ignores them, and returns false, if `missing` is something else by now. */
  addOlder(missing: Missing, entries: readonly SessionEntry[], hasOlder: boolean): boolean {
    if (this.#older.kind === "none" || !isDeepStrictEqual(missing, this.missing)) return false;
    // The end has to be that of the view, or some of it would come again.
    if (missing.kind === "end" && entries.at(-1)?.id !== missing.leafId) return false;
    const { note } = this.#older;
    const page = new Transcript(this.#options);
    if (hasOlder) page.#older = { kind: "some", note };
    for (const entry of entries) page.#addEntry(entry);
    page.#settleFailed();
    const repeated = this.#calls.takeOlder(page.#calls);
    const shown = page.children.filter((child) => !repeated.has(child));
    this.children = [...(hasOlder ? [note] : []), ...shown, ...this.children.slice(1)];
    this.#firstId = entries[0]?.id ?? this.#firstId;
    if (!hasOlder) this.#older = { kind: "none" };
    return true;
  }

  addRemark(text: string, color: "dim" | "warning" | "error"): void {
    this.#addRemark(createNote(text, this.#look, color));
  }

  addMarkdown(text: string): void {
    this.#addRemark(new Markdown(text, this.#look.outputPad, 0, this.#look.markdown));
  }

  /** Something that is not in the log. It stays where it is: its lines may be printed already. */
  #addRemark(remark: Component): void {
    const remarks = [...this.#remarks, remark];
    if (this.#remarks.length === 0) this.addChild(new Spacer(1));
    this.addChild(remark);
    this.#remarks = remarks;
  }

  /** The remarks so far belong to the branch that is shown. Later ones are also shown after another branch is. */
  keepRemarks(): void {
    this.#remarks = [];
  }

  override addChild(component: Component): void {
    super.addChild(component);
    this.#remarks = [];
  }

  override clear(): void {
    super.clear();
    this.#remarks = [];
    this.#isBegun = false;
    this.#entries = [];
    this.#firstId = undefined;
    this.#older = { kind: "none" };
    this.#calls.clear();
    this.#commands = [];
    this.#live = undefined;
    this.#failed = undefined;
    this.#repeated = undefined;
  }

  #takeEntries(log: LogView): void {
    const { entries } = log;
    const last = this.#entries.at(-1);
    // By its id: a gateway sends entries again after a break.
    const known = last === undefined ? -1 : entries.findLastIndex(({ id }) => id === last.id);
    let fresh = entries.slice(known + 1);
    const remarks = known === -1 && last !== undefined ? this.#remarks : [];
    // Another branch or another session. Before the first entry there may be a command that is running.
    if (known === -1 && last !== undefined) this.clear();
    if (this.#firstId === undefined) {
      const hasOlder = fresh.length > maxFirstEntries || log.hasOlder;
      const wanted = fresh.slice(-maxFirstEntries);
      const first = Math.max(0, wanted.length - (this.#options.countFirst?.(wanted) ?? wanted.length));
      fresh = wanted.slice(first);
      this.#isBegun ||= hasOlder;
      if (first > 0) this.#markOlder(log, { entries: wanted.slice(0, first), hasOlder });
      else if (hasOlder) this.#markOlder(log);
      this.#firstId = fresh[0]?.id;
    }
    for (const entry of fresh) this.#addEntry(entry);
    this.#entries = entries;
    if (remarks.length === 0) return;
    for (const component of [new Spacer(1), ...remarks]) this.addChild(component);
    this.#remarks = remarks;
  }

  #markOlder(log: LogView, undrawn?: Undrawn): void {
    if (this.#older.kind === "some") return;
    const note = new OlderNote(this.#options.describeOlder(log), this.#look);
    note.isHolding = undrawn !== undefined;
    this.children.unshift(note);
    this.#older = { kind: "some", note, ...(undrawn && { undrawn }) };
  }

  #addEntry(entry: SessionEntry): void {
    if (this.#failed && getWithdrawnId(entry) === this.#failed.entryId) return this.#withdrawFailed();
    switch (entry.type) {
      case "message":
        this.#settleFailed();
        if (!entry.silent) this.#addMessage(entry);
        return;
      case "compaction":
        return this.#addBlock(
          new SummaryBlock(
            `Compacted: a summary takes the place of ${formatTokens(entry.tokensBefore)} tokens.`,
            entry.summary,
            this.#look,
          ),
        );
      case "branch_summary":
        return this.#addNote(`A summary of the branch that was left:\n${entry.summary}`);
      case "custom_message":
        return this.#addCustom({ role: "custom", ...entry });
      case "custom":
        return this.#addCustomEntry(entry);
      case "model_change":
        return this.#addChange(`Model: ${formatModelChange(entry)}`);
      case "thinking_level_change":
        return this.#addChange(`Thinking: ${entry.thinkingLevel}`);
      default:
        // Bookkeeping.
        return;
    }
  }

  #addMessage(entry: MessageEntry): void {
    const { message }: { message: SessionMessage } = entry;
    this.#isBegun = true;
    switch (message.role) {
      case "user":
        return this.#addBlock(new UserMessageBlock(message.content, this.#look));
      case "assistant":
        return this.#addAnswer(entry.id, message);
      case "toolResult":
        return this.#calls.setResult(message, this.#older.kind === "some");
      case "bashExecution":
        return this.#takeCommand(message.command).setResult(message);
      case "custom":
        return this.#addCustom(message);
      case "branchSummary":
      case "compactionSummary":
        return this.#addNote(message.summary);
      default:
        // A log may come from a program that knows more.
        message satisfies never;
    }
  }

  /** A message of an extension, which may draw it. */
  #addCustom(message: Pick<CustomMessage, "role" | "customType" | "content" | "display" | "details">): void {
    if (!message.display) return;
    const look = this.#look;
    const lines = getFoldedLines(message.details);
    const whole = getShownText(message.content);
    const note = lines ? createFoldedNote(lines, whole, look) : createNote(whole, look);
    const name = `The renderer of messages ${message.customType}`;
    const find = () => look.renderers?.findMessage(message);
    this.#addBlock(look.renderers ? new RenderedItem({ look, name, find, fallback: note }) : note);
  }

  /** Adds a decision of the policy about a call. */
  #addDecision({ data }: CustomEntry): void {
    const { toolCallId, outcome } = toFields(data);
    if (outcome === "denied") this.#calls.deny(getText(toolCallId), this.#older.kind === "some");
  }

  #addCustomEntry(entry: CustomEntry): void {
    const nested = getNestedCall(entry);
    if (nested) return this.#calls.addNested(nested);
    const use = getModelUse(entry);
    // A virtual model may choose another model for each request; the line below the editor has it.
    if (use) return use.cause === "route" ? undefined : this.#addNote(use.reason);
    return entry.customType === customTypes.decision ? this.#addDecision(entry) : this.#addExtensionState(entry);
  }

  /** State of an extension, which is shown only if the extension draws it. */
  #addExtensionState(entry: CustomEntry): void {
    const look = this.#look;
    const find = () => look.renderers?.findEntry(entry);
    if (!find()) return;
    const name = `The renderer of entries ${entry.customType}`;
    this.#addBlock(new RenderedItem({ look, name, find, fallback: undefined }));
  }

  /** Sets the result so far of a running tool, for an extension that draws it. */
  setPartial(toolCallId: string, partial: AgentToolResult): void {
    this.#calls.setPartial(toolCallId, partial);
  }

  #addAnswer(entryId: string, message: AssistantMessage): void {
    const said = getWords(getTexts(message));
    const { block, isBehind } = this.#continueRepeated(said, message.stopReason === "error");
    if (message.stopReason !== "error") block.setMessage(message);
    else {
      this.#failed = { entryId, block, message, said: isBehind ? this.#repeated!.said : said, isSettled: false };
      if (!isBehind) block.setLive(getTexts(message));
    }
    this.#repeated = undefined;
    this.#live = undefined;
    for (const part of message.content) {
      if (part.type === "toolCall") this.#calls.get(part.id, part.name).setInput(part.arguments);
    }
  }

  /**
   * The block of the answer that says `said`: the one that it repeats, if it begins with the same words. `isBehind`: it says
   * less than is shown already, and more may follow.
   */
  #continueRepeated(said: string, mayFollow: boolean): { block: AssistantBlock; isBehind: boolean } {
    const block = this.#live?.block ?? this.#repeated?.block ?? this.#createAnswer();
    if (!this.#repeated || said.startsWith(this.#repeated.said)) return { block, isBehind: false };
    if (mayFollow && this.#repeated.said.startsWith(said)) return { block, isBehind: true };
    this.removeChild(this.#repeated.block);
    return { block: block === this.#repeated.block ? this.#createAnswer() : block, isBehind: false };
  }

  /** Withdraws a failed answer: it is asked for again, and the next answer takes its place. */
  #withdrawFailed(): void {
    if (!this.#failed) return;
    const { block, message, said } = this.#failed;
    this.#failed = undefined;
    this.#repeated = { block, said };
    for (const part of message.content) {
      const call = part.type === "toolCall" ? this.#calls.withdraw(part.id) : undefined;
      if (call) this.removeChild(call);
    }
  }

  /** Keeps a failed answer: it is not asked for again. */
  #settleFailed(): void {
    if (!this.#failed || this.#failed.isSettled) return;
    const { block, message } = this.#failed;
    this.#failed = { ...this.#failed, isSettled: true };
    block.setMessage(message);
  }

  #takeLive({ message, tools, approvals, denials }: LiveView): void {
    if (message) {
      if (this.#live?.id !== message.id) this.#live = undefined;
      const { block, isBehind } = this.#continueRepeated(getWords(message), message.calls.length === 0);
      this.#live = { id: message.id, block };
      if (!isBehind) {
        this.#repeated = undefined;
        block.setLive(message);
      }
      for (const call of message.calls) this.#calls.get(call.id, call.name).setArguments(call.arguments);
    }
    for (const tool of tools) this.#calls.setRunning(tool, approvals);
    // The log may have refused the decision.
    for (const { toolCallId } of denials) this.#calls.deny(toolCallId, false);
  }

  /** After a run nothing that it left open changes any more, and nothing holds back what follows. */
  #end(): void {
    this.#settleFailed();
    if (this.#repeated) this.removeChild(this.#repeated.block);
    this.#repeated = undefined;
    this.#live?.block.end();
    this.#calls.end();
  }

  #createAnswer(): AssistantBlock {
    const block = new AssistantBlock(this.#look);
    this.addChild(block);
    return block;
  }

  #createCall(id: string, name: string): ToolCallBlock {
    const block = new ToolCallBlock({ id, name }, this.#look, this.#options.now);
    this.addChild(block);
    return block;
  }

  #takeCommand(command: string): ShellCommandBlock {
    const block = this.#commands.find((other) => other.command === command) ?? this.addCommand(command);
    this.forgetCommand(block);
    return block;
  }

  /** Adds a change. The first values of a session are in the status line. */
  #addChange(text: string): void {
    if (this.#isBegun || this.#older.kind === "some") this.#addNote(text);
  }

  #addNote(text: string): void {
    this.#addBlock(createNote(text, this.#look));
  }

  #addBlock(component: Component): void {
    this.addChild(new Spacer(1));
    this.addChild(component);
  }
}

interface FailedAnswer {
  entryId: string;
  block: AssistantBlock;
  message: AssistantMessage;
  /** The text that is shown of it. */
  said: string;
  /** Whether it is known that it is not asked for again. */
  isSettled: boolean;
}

/** All that an answer says, in the order in which it arrives. */
const getWords = ({ thinking, text }: { thinking: string; text: string }): string =>
  text === "" ? thinking : `${thinking}\0${text}`;

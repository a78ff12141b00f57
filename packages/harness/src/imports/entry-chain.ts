/** Builds the entries of a converted session. */
import { createHash } from "node:crypto";
import type { AssistantMessage, ImageContent, Message, TextContent, ToolCall } from "@tau/ai";
import type { SessionEntry } from "../session/entry.ts";

/** The place that an entry follows; null is the beginning. */
export type Position = string | null;

interface NewChainEntry {
  /** Names what the entry stands for in its source, and never changes there. */
  key: string;
  /** Milliseconds since the epoch. */
  time: number;
}

const missingText =
  "The result of this call is not in the imported session: the call was interrupted, or its result was lost.";

/**
 * Gives entries ids that are made from their source and from the entries before them. So converting a longer version of a
 * log gives the same entries again, and new ones behind them; what was changed there becomes another branch.
 *
 * Every call gets exactly one result, whatever the source has: a missing one is added when something else follows, or at the
 * end, and one without its call is left out.
 */
export class EntryChain {
  readonly #used = new Set<string>();
  /** The calls without a result on the way to a position. */
  readonly #openCalls = new Map<Position, readonly ToolCall[]>();
  /** The result that was added behind a position with open calls. */
  readonly #results = new Map<Position, Position>();
  readonly #emit: (entry: SessionEntry) => void;
  #last: Position = null;
  #count = 0;
  /** How many results had no call. */
  droppedResults = 0;

  constructor(emit: (entry: SessionEntry) => void) {
    this.#emit = emit;
  }

  /** The position of the entry that was added last. */
  get last(): Position {
    return this.#last;
  }

  get count(): number {
    return this.#count;
  }

  /** Adds any entry but a result. `build` gets the id that the entry will have. */
  add(
    after: Position,
    entry: NewChainEntry,
    build: (id: string) => Record<string, unknown> & { type: string },
  ): string {
    const position = this.#close(after, entry.time);
    const id = this.#createId(position, entry.key);
    const { type, ...fields } = build(id);
    this.#push({ type, id, parentId: position, timestamp: toTimestamp(entry.time), ...fields } as SessionEntry);
    return id;
  }

  addMessage(after: Position, entry: NewChainEntry, message: Message): string {
    const id = this.add(after, entry, () => ({ type: "message", message }));
    const calls = message.role === "assistant" ? getCalls(message) : [];
    if (calls.length > 0) this.#openCalls.set(id, calls);
    return id;
  }

  /** Returns undefined if there is no such call without a result. */
  addResult(after: Position, entry: NewChainEntry, result: ForeignResult): string | undefined {
    let position = after;
    // Results that were written side by side follow each other.
    for (let next = this.#results.get(position); next !== undefined; next = this.#results.get(position)) {
      if (!this.#isOpen(next, result.callId)) break;
      position = next;
    }
    const calls = this.#openCalls.get(position) ?? [];
    const call = calls.find(({ id }) => id === result.callId);
    if (!call) {
      this.droppedResults++;
      return undefined;
    }
    return this.#answer(position, call, { ...entry, content: result.content, isError: result.isError });
  }

  /** Gives the calls that are still open a result. */
  end(time: number): void {
    this.#close(this.#last, time);
  }

  #isOpen(position: Position, callId: string): boolean {
    return (this.#openCalls.get(position) ?? []).some(({ id }) => id === callId);
  }

  /** Finds the position behind all results, and adds those that are missing. */
  #close(after: Position, time: number): Position {
    let position = after;
    for (let next = this.#results.get(position); next !== undefined; next = this.#results.get(position))
      position = next;
    for (const call of this.#openCalls.get(position) ?? []) {
      const content = [{ type: "text" as const, text: missingText }];
      position = this.#answer(position, call, { key: `missing ${call.id}`, time, content, isError: true });
    }
    return position;
  }

  #answer(
    position: Position,
    call: ToolCall,
    { key, time, content, isError }: NewChainEntry & Pick<ForeignResult, "content" | "isError">,
  ): string {
    const id = this.#createId(position, key);
    const result: Message = {
      role: "toolResult",
      toolCallId: call.id,
      toolName: call.name,
      content,
      isError,
      timestamp: time,
    };
    this.#push({ type: "message", id, parentId: position, timestamp: toTimestamp(time), message: result });
    const others = (this.#openCalls.get(position) ?? []).filter((other) => other !== call);
    if (others.length > 0) this.#openCalls.set(id, others);
    this.#results.set(position, id);
    return id;
  }

  #push(entry: SessionEntry): void {
    this.#last = entry.id;
    this.#count++;
    this.#emit(entry);
  }

  #createId(position: Position, key: string): string {
    for (let attempt = 0; ; attempt++) {
      const id = createHash("sha256").update(`${position}\n${attempt}\n${key}`).digest("hex").slice(0, 8);
      if (this.#used.has(id)) continue;
      this.#used.add(id);
      return id;
    }
  }
}

export interface ForeignResult {
  callId: string;
  content: (TextContent | ImageContent)[];
  isError: boolean;
}

/** Two calls of an answer with one id would get one result. The first is kept. */
function getCalls({ content }: AssistantMessage): ToolCall[] {
  const calls = content.filter((block) => block.type === "toolCall");
  return calls.filter((call, index) => calls.findIndex(({ id }) => id === call.id) === index);
}

const toTimestamp = (time: number) => new Date(time).toISOString();

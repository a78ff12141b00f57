import type { AgentToolResult } from "@tau/agent";
import type { ToolResultMessage } from "@tau/ai";
import type { Approval, LiveTool, NestedCall } from "@tau/protocol";
import { EndedCalls } from "@tau/protocol/surface";
import type { Component } from "@tau/tui";
import type { ToolCallBlock } from "./blocks/tool-call.ts";

/** The calls of tools in a transcript, and what came of calls that it does not show: an older entry may have them. */
export class ShownCalls {
  readonly #add: (id: string, name: string) => ToolCallBlock;
  /** By the id of the call, as everything here. */
  readonly #blocks = new Map<string, ToolCallBlock>();
  /** The calls without a result. */
  readonly #awaited = new Set<string>();
  /** The results so far of tools whose calls are not shown yet: they may begin between two frames. */
  readonly #partials = new Map<string, AgentToolResult>();
  readonly #strayResults = new Map<string, ToolResultMessage>();
  readonly #strayDenials = new Set<string>();
  /** The calls that tools made and that have ended, until their parents have a result. */
  readonly #ended = new EndedCalls();

  /** `add` puts a call at the end of the transcript. */
  constructor(add: (id: string, name: string) => ToolCallBlock) {
    this.#add = add;
  }

  /** A call that is not shown yet is added. */
  get(id: string, name: string): ToolCallBlock {
    const known = this.#blocks.get(id);
    if (known) {
      known.setName(name);
      return known;
    }
    const block = this.#add(id, name);
    const partial = this.#partials.get(id);
    if (partial) block.setPartial(partial);
    this.#partials.delete(id);
    this.#blocks.set(id, block);
    this.#awaited.add(id);
    return block;
  }

  setPartial(id: string, partial: AgentToolResult): void {
    const block = this.#blocks.get(id);
    if (block) block.setPartial(partial);
    else this.#partials.set(id, partial);
  }

  setRunning(tool: LiveTool, approvals: readonly Approval[]): void {
    const askedIds = new Set(approvals.map(({ toolCallId }) => toolCallId));
    const block = this.get(tool.id, tool.name);
    block.setNested(this.#ended.list(tool.id, { running: tool.calls, askedIds }));
    block.setRunning(tool, askedIds.has(tool.id));
  }

  /** A call that a tool made has ended. Its row is drawn with those of its parent. */
  addNested(call: NestedCall): void {
    this.#ended.add(call);
  }

  /** `hasOlder`: the call may be in an older entry. */
  setResult(result: ToolResultMessage, hasOlder: boolean): void {
    const { toolCallId: id } = result;
    const block = this.#blocks.get(id);
    if (block) this.#finish(id, block, result);
    else if (hasOlder) this.#strayResults.set(id, result);
    this.#awaited.delete(id);
  }

  deny(id: string, hasOlder: boolean): void {
    const block = this.#blocks.get(id);
    if (block) block.setDenied();
    else if (hasOlder) this.#strayDenials.add(id);
  }

  /** The call belongs to an answer that is asked for again. Returns what showed it. */
  withdraw(id: string): Component | undefined {
    const block = this.#blocks.get(id);
    this.#blocks.delete(id);
    this.#awaited.delete(id);
    return block;
  }

  /** Nothing follows for those without a result. */
  end(): void {
    for (const id of this.#awaited) this.#end(id, this.#blocks.get(id));
    this.#awaited.clear();
  }

  clear(): void {
    this.#blocks.clear();
    this.#awaited.clear();
    this.#partials.clear();
    this.#strayResults.clear();
    this.#strayDenials.clear();
    this.#ended.clear();
  }

  /** Takes over those of older entries. Returns the ones that are shown already, because they are running. */
  takeOlder(older: ShownCalls): ReadonlySet<Component> {
    const repeated = new Set<Component>();
    this.#ended.addOlder(older.#ended);
    for (const [id, block] of older.#blocks) {
      const isAwaited = older.#awaited.has(id);
      const result = isAwaited ? this.#strayResults.get(id) : undefined;
      if (result) {
        if (this.#strayDenials.delete(id)) block.setDenied();
        this.#finish(id, block, result);
        this.#strayResults.delete(id);
      } else if (isAwaited && this.#awaited.has(id)) repeated.add(block);
      else if (isAwaited) this.#end(id, block);
      // An id may be used again, and what comes is about the last call.
      if (!this.#blocks.has(id)) this.#blocks.set(id, block);
    }
    for (const [id, result] of older.#strayResults) this.#strayResults.set(id, result);
    for (const id of older.#strayDenials) this.#strayDenials.add(id);
    return repeated;
  }

  #finish(id: string, block: ToolCallBlock, result: ToolResultMessage): void {
    block.setNested(this.#ended.take(id));
    block.setResult(result);
  }

  /** No result follows. */
  #end(id: string, block: ToolCallBlock | undefined): void {
    block?.setNested(this.#ended.list(id));
    block?.end();
  }
}

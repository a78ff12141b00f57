import { shortHash } from "../../handoff.ts";
import type { ToolCall } from "../../message.ts";
import type { Draft } from "../draft.ts";
import { record, text } from "../read.ts";
import { isTooDeep } from "../streaming-json.ts";

interface OpenCall {
  key: string;
  block: ToolCall;
  /** Whether arguments have come; from then on a name is not a piece of the name. */
  begun: boolean;
}

/**
 * Finds out which call a piece belongs to. Pieces should carry the call's index, and the first one its id and name; in
 * the wild the index is missing or always 0, ids are empty, late or repeated, and names come in pieces.
 */
export class ToolCalls {
  readonly #draft: Draft;
  readonly #all: OpenCall[] = [];
  readonly #byIndex = new Map<number, OpenCall>();

  constructor(draft: Draft) {
    this.#draft = draft;
  }

  /** Takes in one entry of `tool_calls`. `onOpen` is called before a new call opens. */
  take(piece: Record<string, unknown>, onOpen: () => void): void {
    const index = typeof piece["index"] === "number" ? piece["index"] : undefined;
    const id = text(piece["id"]);
    const made = record(piece["function"]);
    const name = text(made["name"]);
    const known = this.#find(index, id, name);
    const call = known && !startsAnother(known, id, name) ? known : this.#open(id, name, onOpen);
    if (index !== undefined) this.#byIndex.set(index, call);
    if (call === known) {
      if (call.block.id === "") call.block.id = this.#unlessTaken(id);
      if (!call.begun) call.block.name = joinName(call.block.name, name);
    }
    const args = readArguments(made["arguments"], call.begun);
    if (args === "") return;
    call.begun = true;
    this.#draft.argumentsDelta(call.key, args);
  }

  /** Puts a signature on the call with this id. False when there is none. */
  sign(id: unknown, signature: string): boolean {
    const call = this.#all.findLast(({ block }) => block.id !== "" && block.id === id);
    if (call) call.block.thoughtSignature = signature;
    return call !== undefined;
  }

  /** Calls that got no id get one, so that their results can name them. */
  settle(): void {
    const { responseId = "" } = this.#draft.message;
    this.#all.forEach(({ block }, at) => {
      if (block.id === "") block.id = `call_${shortHash(`${responseId}:${at}:${block.name}`)}`;
    });
  }

  #find(index: number | undefined, id: string, name: string): OpenCall | undefined {
    if (index !== undefined && this.#byIndex.has(index)) return this.#byIndex.get(index);
    const sameId = id === "" ? undefined : this.#all.findLast(({ block }) => block.id === id);
    // A new index with a name is a call of its own, whatever its id.
    if (index !== undefined) return name === "" ? sameId : undefined;
    return sameId ?? this.#all.at(-1);
  }

  #open(id: string, name: string, onOpen: () => void): OpenCall {
    onOpen();
    const key = `call ${this.#all.length}`;
    this.#draft.toolCall(key, { id: this.#unlessTaken(id), name });
    const call = { key, block: this.#draft.block(key) as ToolCall, begun: false };
    this.#all.push(call);
    return call;
  }

  #unlessTaken(id: string): string {
    return this.#all.some(({ block }) => block.id === id) ? "" : id;
  }
}

/** A piece of JSON. A few servers send the arguments as an object instead, and then whole. */
function readArguments(value: unknown, begun: boolean): string {
  if (typeof value !== "object" || value === null || begun) return text(value);
  return isTooDeep(value) ? "(arguments that are nested too deeply)" : JSON.stringify(value);
}

/** A new id with a name, or another name after the arguments, is the next call, although nothing else says so. */
function startsAnother(call: OpenCall, id: string, name: string): boolean {
  if (name === "") return false;
  if (id !== "" && call.block.id !== "") return id !== call.block.id;
  return call.begun && name !== call.block.name;
}

/** Names come whole, again and again, or in pieces. */
function joinName(sofar: string, piece: string): string {
  if (piece === sofar) return sofar;
  return piece.startsWith(sofar) ? piece : sofar + piece;
}

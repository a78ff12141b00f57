import { shortHash } from "../../hash.ts";
import type { ToolCall } from "../../message.ts";
import type { Draft } from "../draft.ts";
import { record, text } from "../read.ts";
import { isTooDeep } from "../streaming-json.ts";
import { CallArguments, opensArguments } from "./arguments.ts";

interface OpenCall {
  readonly key: string;
  readonly block: ToolCall;
  readonly args: CallArguments;
  /** Named once more after its arguments were complete: the arguments that come next are another call's. */
  namedAgain: boolean;
}

/** One entry of `tool_calls`. What is missing is empty. */
interface Piece {
  index: number | undefined;
  id: string;
  name: string;
  args: string;
  /** The arguments came as an object, which cannot continue anything. */
  whole: boolean;
}

/**
 * Finds out which call a piece belongs to. Pieces should carry the call's index, and the first one its id and name; in
 * the wild the index is missing or always 0, ids are empty, late or repeated, and names come in pieces or every time.
 */
export class ToolCalls {
  readonly #draft: Draft;
  readonly #all: OpenCall[] = [];
  readonly #byIndex = new Map<number, OpenCall>();

  constructor(draft: Draft) {
    this.#draft = draft;
  }

  /** Takes in the list `tool_calls` of one chunk. `onOpen` is called before a new call opens. */
  take(pieces: readonly unknown[], onOpen: () => void): void {
    const named = new Set<OpenCall>();
    for (const value of pieces) {
      const piece = readPiece(record(value));
      const known = this.#find(piece);
      const call = known && !startsAnother(known, piece, named.has(known)) ? known : this.#open(piece, known, onOpen);
      if (!call) continue;
      if (piece.index !== undefined) this.#byIndex.set(piece.index, call);
      if (piece.name !== "") named.add(call);
      if (call === known) this.#fill(call, piece);
      if (piece.whole && call.args.begun) continue;
      this.#draft.argumentsDelta(call.key, call.args.push(piece.args));
    }
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

  #find({ index, id, name }: Piece): OpenCall | undefined {
    if (index !== undefined && this.#byIndex.has(index)) return this.#byIndex.get(index);
    const sameId = id === "" ? undefined : this.#all.findLast(({ block }) => block.id === id);
    // A new index with a name is a call of its own, whatever its id.
    if (index !== undefined) return name === "" ? sameId : undefined;
    return sameId ?? this.#all.at(-1);
  }

  /** `before` is the call that the piece looked like; one that was named again has lent its name. */
  #open({ id, name, args }: Piece, before: OpenCall | undefined, onOpen: () => void): OpenCall | undefined {
    if (id === "" && name === "" && args === "") return undefined;
    onOpen();
    const key = `call ${this.#all.length}`;
    this.#draft.toolCall(key, { id: this.#unlessTaken(id), name: name || (before?.block.name ?? "") });
    const block = this.#draft.block(key) as ToolCall;
    const call: OpenCall = { key, block, args: new CallArguments(), namedAgain: false };
    this.#all.push(call);
    return call;
  }

  /** An id may come late, and a name late or in pieces. */
  #fill(call: OpenCall, { id, name }: Piece): void {
    const { block, args } = call;
    if (block.id === "") block.id = this.#unlessTaken(id);
    if (block.name === "" || !args.begun) block.name = joinName(block.name, name);
    else if (args.complete && name !== "") call.namedAgain = true;
  }

  #unlessTaken(id: string): string {
    return this.#all.some(({ block }) => block.id === id) ? "" : id;
  }
}

function readPiece(entry: Record<string, unknown>): Piece {
  const { index } = entry;
  const made = record(entry["function"]);
  const args = made["arguments"];
  return {
    index: typeof index === "number" ? index : undefined,
    id: text(entry["id"]),
    name: text(made["name"]),
    args: readArguments(args),
    whole: typeof args === "object",
  };
}

/** A piece of JSON. A few servers send the arguments as an object instead, and then whole. */
function readArguments(value: unknown): string {
  if (typeof value !== "object" || value === null) return text(value);
  return isTooDeep(value) ? "(arguments that are nested too deeply)" : JSON.stringify(value);
}

/**
 * Whether a piece is the next call's, although nothing else says so. A name with new arguments after complete ones is;
 * so is one with a new id, with another name after the arguments, or without an id in the list that named this call.
 */
function startsAnother({ block, args, namedAgain }: OpenCall, piece: Piece, namedInThisList: boolean): boolean {
  const { id, name } = piece;
  const isSameId = id !== "" && id === block.id;
  if ((name !== "" || namedAgain) && args.complete && opensArguments(piece.args)) {
    return !isSameId || !args.isRepeat(piece.args);
  }
  if (name === "" || isSameId) return false;
  if (id !== "" && block.id !== "") return true;
  return namedInThisList || (args.begun && block.name !== "" && name !== block.name);
}

/** Names come whole, again and again, or in pieces. */
function joinName(sofar: string, piece: string): string {
  if (piece === sofar) return sofar;
  return piece.startsWith(sofar) ? piece : sofar + piece;
}

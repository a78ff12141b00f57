import { toShortHash } from "../../hash.ts";
import type { ToolCall } from "../../message.ts";
import type { Draft } from "../draft.ts";
import { asRecord, asString } from "../../json.ts";
import { isTooDeep } from "../streaming-json.ts";
import { CallArguments, startsArguments } from "./arguments.ts";
import { writeExtraContent } from "./reasoning.ts";

interface OpenCall {
  readonly key: string;
  readonly block: ToolCall;
  readonly args: CallArguments;
  /** The name was repeated after the arguments were complete, so the next arguments belong to another call. */
  namedAgain: boolean;
}

/** An entry of `tool_calls`. Missing strings are empty. */
interface Piece {
  index: number | undefined;
  id: string;
  name: string;
  args: string;
  /** The signature that the server wants back with the call. */
  signature: string;
  /** The arguments came as an object instead of a piece of JSON text, so they are complete. */
  whole: boolean;
}

/**
 * Assigns each piece to its call. Pieces should carry the index of the call, and the first piece its id and name. Real
 * servers omit the index or always send 0, send ids empty, late or repeatedly, and split or repeat names.
 */
export class ToolCalls {
  readonly #draft: Draft;
  readonly #all: OpenCall[] = [];
  readonly #byIndex = new Map<number, OpenCall>();

  constructor(draft: Draft) {
    this.#draft = draft;
  }

  /** Adds the `tool_calls` list of one chunk. Calls `onOpen` before a new call is opened. */
  take(pieces: readonly unknown[], onOpen: () => void): void {
    const namedInThisList = new Set<OpenCall>();
    for (const value of pieces) {
      const piece = readPiece(asRecord(value));
      const match = this.#find(piece);
      const isContinued = match && !startsAnother(match, piece, namedInThisList.has(match));
      const call = isContinued ? match : this.#open(piece, match, onOpen);
      if (!call) continue;
      if (piece.index !== undefined) this.#byIndex.set(piece.index, call);
      if (piece.name !== "") namedInThisList.add(call);
      if (call === match) this.#fill(call, piece);
      if (piece.signature !== "") call.block.thoughtSignature = piece.signature;
      if (piece.whole && call.args.begun) continue;
      this.#draft.argumentsDelta(call.key, call.args.push(piece.args));
    }
  }

  /** Stores a signature on the call with this id. Returns false if there is no such call. */
  sign(id: unknown, signature: string): boolean {
    const call = this.#all.findLast(({ block }) => block.id !== "" && block.id === id);
    if (call) call.block.thoughtSignature = signature;
    return call !== undefined;
  }

  /** Generates ids for calls that received none, so that their results can refer to them. */
  settle(): void {
    const { responseId = "" } = this.#draft.message;
    this.#all.forEach(({ block }, index) => {
      if (block.id === "") block.id = `call_${toShortHash(`${responseId}:${index}:${block.name}`)}`;
    });
  }

  #find({ index, id, name }: Piece): OpenCall | undefined {
    if (index !== undefined && this.#byIndex.has(index)) return this.#byIndex.get(index);
    const sameId = id === "" ? undefined : this.#all.findLast(({ block }) => block.id === id);
    // A new index with a name is a new call, even if its id is known.
    if (index !== undefined) return name === "" ? sameId : undefined;
    return sameId ?? this.#all.at(-1);
  }

  /** `previous` is the call that the piece matched. Its name is used if the piece has none. */
  #open({ id, name, args }: Piece, previous: OpenCall | undefined, onOpen: () => void): OpenCall | undefined {
    if (id === "" && name === "" && args === "") return undefined;
    onOpen();
    const key = `call ${this.#all.length}`;
    this.#draft.toolCall(key, { id: this.#toUnusedId(id), name: name || (previous?.block.name ?? "") });
    const block = this.#draft.block(key) as ToolCall;
    const call: OpenCall = { key, block, args: new CallArguments(), namedAgain: false };
    this.#all.push(call);
    return call;
  }

  /** Adds an id that comes late, and a name that comes late or in pieces. */
  #fill(call: OpenCall, { id, name }: Piece): void {
    const { block, args } = call;
    if (block.id === "") block.id = this.#toUnusedId(id);
    if (block.name === "" || !args.begun) block.name = joinName(block.name, name);
    else if (args.complete && name !== "") call.namedAgain = true;
  }

  /** The id, or an empty string if another call has it. */
  #toUnusedId(id: string): string {
    return this.#all.some(({ block }) => block.id === id) ? "" : id;
  }
}

function readPiece(entry: Record<string, unknown>): Piece {
  const { index } = entry;
  const calledFunction = asRecord(entry["function"]);
  const args = calledFunction["arguments"];
  return {
    index: typeof index === "number" ? index : undefined,
    id: asString(entry["id"]),
    name: asString(calledFunction["name"]),
    args: readArguments(args),
    signature: writeExtraContent(entry["extra_content"]),
    whole: typeof args === "object",
  };
}

/** A piece of JSON text. A few servers send the complete arguments as an object instead. */
function readArguments(value: unknown): string {
  if (typeof value !== "object" || value === null) return asString(value);
  return isTooDeep(value) ? "(arguments that are nested too deeply)" : JSON.stringify(value);
}

/**
 * Whether a piece that matched this call starts another one. It does if new arguments follow complete ones after a name,
 * if its id is new, if its name differs after arguments began, or if its list already named this call.
 */
function startsAnother({ block, args, namedAgain }: OpenCall, piece: Piece, namedInThisList: boolean): boolean {
  const { id, name } = piece;
  const isSameId = id !== "" && id === block.id;
  if ((name !== "" || namedAgain) && args.complete && startsArguments(piece.args)) {
    return !isSameId || !args.isRepeat(piece.args);
  }
  if (name === "" || isSameId) return false;
  if (id !== "" && block.id !== "") return true;
  return namedInThisList || (args.begun && block.name !== "" && name !== block.name);
}

/** Some servers repeat the whole name, others send it in pieces. */
function joinName(received: string, piece: string): string {
  return piece.startsWith(received) ? piece : received + piece;
}

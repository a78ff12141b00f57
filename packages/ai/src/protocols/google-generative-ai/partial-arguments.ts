/**
 * Converts arguments that arrive as paths and values into JSON text, piece by piece. The server sends them in document
 * order, so each piece only appends text.
 */
import { asArray, asRecord, asString } from "../../json.ts";

type Key = string | number;

/** An object or array that is being written. `key` is its key in its parent; `keys` are the keys written so far. */
interface Container {
  key: Key;
  isArray: boolean;
  keys: Set<Key>;
}

export class PartialArguments {
  readonly #open: Container[] = [];
  /** The path of the string that is not complete yet. */
  #openString: string | undefined;
  #problem: string | undefined;

  /** Why the pieces are not a valid object, if they are not. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Adds one `partialArgs` list and returns the JSON text to append. */
  write(partialArgs: unknown): string {
    let json = "";
    for (const item of asArray(partialArgs)) {
      if (this.#problem !== undefined) break;
      json += this.#writeItem(asRecord(item));
    }
    return json;
  }

  /** Returns the JSON text that closes the open string and containers. */
  end(): string {
    return this.#closeString() + this.#closeTo(0);
  }

  #writeItem(item: Record<string, unknown>): string {
    const path = asString(item["jsonPath"]);
    const willContinue = item["willContinue"] === true;
    const isContinuation = this.#openString !== undefined && this.#openString === path;
    if (typeof item["stringValue"] === "string") {
      const piece = JSON.stringify(item["stringValue"]).slice(1, -1);
      const opening = isContinuation ? "" : this.#writeMember(path, '"');
      this.#openString = this.#problem === undefined ? path : undefined;
      return opening + piece + (willContinue ? "" : this.#closeString());
    }
    const value = encodeScalar(item);
    if (value !== undefined) return this.#writeMember(path, value);
    return isContinuation && !willContinue ? this.#closeString() : "";
  }

  /** Closes and opens containers until the parent of `path` is open, then writes the key and `value`. */
  #writeMember(path: string, value: string): string {
    const keys = parsePath(path);
    if (!keys) return this.#fail(`${JSON.stringify(path.slice(0, 100))} is not a path`);
    let json = this.#closeString();
    if (this.#open.length === 0) json += this.#openContainer("", keys[0]);
    let depth = 1;
    while (depth < keys.length && this.#open[depth]?.key === keys[depth - 1]) depth++;
    json += this.#closeTo(depth);
    for (; depth < keys.length; depth++)
      json += this.#writeKey(keys[depth - 1]!) + this.#openContainer(keys[depth - 1]!, keys[depth]);
    json += this.#writeKey(keys.at(-1)!) + value;
    return this.#problem === undefined ? json : "";
  }

  /** The type of the first key decides whether the container is an object or an array. */
  #openContainer(key: Key, firstKey: Key | undefined): string {
    const isArray = typeof firstKey === "number";
    this.#open.push({ key, isArray, keys: new Set() });
    return isArray ? "[" : "{";
  }

  #writeKey(key: Key): string {
    const { isArray, keys } = this.#open.at(-1)!;
    const isInOrder = isArray ? key === keys.size : typeof key === "string" && !keys.has(key);
    if (!isInOrder) return this.#fail("the pieces came out of order");
    const comma = keys.size > 0 ? "," : "";
    keys.add(key);
    return isArray ? comma : `${comma}${JSON.stringify(key)}:`;
  }

  #closeString(): string {
    if (this.#openString === undefined) return "";
    this.#openString = undefined;
    return '"';
  }

  #closeTo(depth: number): string {
    let json = "";
    while (this.#open.length > depth) json += this.#open.pop()!.isArray ? "]" : "}";
    return json;
  }

  #fail(problem: string): string {
    this.#problem ??= problem;
    return "";
  }
}

function encodeScalar(item: Record<string, unknown>): string | undefined {
  if (typeof item["numberValue"] === "number") return JSON.stringify(item["numberValue"]);
  if (typeof item["boolValue"] === "boolean") return String(item["boolValue"]);
  return "nullValue" in item ? "null" : undefined;
}

/** The keys of a path such as `$.a.b[0]['c d']`; undefined if it is not a path. */
function parsePath(path: string): Key[] | undefined {
  const keys: Key[] = [];
  const pattern = /\.([^.[\]'"]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/gy;
  pattern.lastIndex = 1;
  let end = 1;
  for (const match of path.matchAll(pattern)) {
    const [whole, name, index, single, double] = match;
    keys.push(index !== undefined ? Number(index) : (name ?? (single ?? double ?? "").replace(/\\(.)/g, "$1")));
    end = match.index + whole.length;
  }
  const isComplete = path.startsWith("$") && end === path.length;
  return isComplete && typeof keys[0] === "string" ? keys : undefined;
}

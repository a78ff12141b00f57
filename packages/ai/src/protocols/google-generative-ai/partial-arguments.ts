/**
 * Turns arguments that arrive as paths and values into the JSON text that they spell, piece by piece. The server sends
 * them in the order of the document, so each piece only adds to the text.
 */
import { asArray, asRecord, asString } from "../read.ts";

type Step = string | number;

/** An object or list that is being written. `step` is its place in the one around it; `keys` are its members so far. */
interface Container {
  step: Step;
  isList: boolean;
  keys: Set<Step>;
}

export class PartialArguments {
  readonly #open: Container[] = [];
  /** The path of a text that goes on. */
  #string: string | undefined;
  #problem: string | undefined;

  /** Why the pieces do not spell an object, if they do not. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Takes one `partialArgs` list and returns the JSON text it adds. */
  write(partialArgs: unknown): string {
    let json = "";
    for (const item of asArray(partialArgs)) {
      if (this.#problem !== undefined) break;
      json += this.#writeOne(asRecord(item));
    }
    return json;
  }

  /** Closes what is open. */
  end(): string {
    return this.#closeString() + this.#closeTo(0);
  }

  #writeOne(item: Record<string, unknown>): string {
    const path = asString(item["jsonPath"]);
    const goesOn = item["willContinue"] === true;
    const continues = this.#string !== undefined && this.#string === path;
    if (typeof item["stringValue"] === "string") {
      const piece = escaped(item["stringValue"]);
      const opening = continues ? "" : this.#member(path, '"');
      this.#string = this.#problem === undefined ? path : undefined;
      return opening + piece + (goesOn ? "" : this.#closeString());
    }
    const value = scalar(item);
    if (value !== undefined) return this.#member(path, value);
    return continues && !goesOn ? this.#closeString() : "";
  }

  /** Everything that has to stand before a value at `path`, and then `value`. */
  #member(path: string, value: string): string {
    const steps = parsePath(path);
    if (!steps) return this.#fail(`${JSON.stringify(path.slice(0, 100))} is not a path`);
    let json = this.#closeString();
    if (this.#open.length === 0) json += this.#enter("", steps[0]);
    let depth = 1;
    while (depth < steps.length && this.#open[depth]?.step === steps[depth - 1]) depth++;
    json += this.#closeTo(depth);
    for (; depth < steps.length; depth++)
      json += this.#name(steps[depth - 1]!) + this.#enter(steps[depth - 1]!, steps[depth]);
    json += this.#name(steps.at(-1)!) + value;
    return this.#problem === undefined ? json : "";
  }

  #enter(step: Step, firstMember: Step | undefined): string {
    const isList = typeof firstMember === "number";
    this.#open.push({ step, isList, keys: new Set() });
    return isList ? "[" : "{";
  }

  #name(step: Step): string {
    const { isList, keys } = this.#open.at(-1)!;
    const inOrder = isList ? step === keys.size : typeof step === "string" && !keys.has(step);
    if (!inOrder) return this.#fail("the pieces came out of order");
    const comma = keys.size > 0 ? "," : "";
    keys.add(step);
    return isList ? comma : `${comma}${JSON.stringify(step)}:`;
  }

  #closeString(): string {
    if (this.#string === undefined) return "";
    this.#string = undefined;
    return '"';
  }

  #closeTo(depth: number): string {
    let json = "";
    while (this.#open.length > depth) json += this.#open.pop()!.isList ? "]" : "}";
    return json;
  }

  #fail(problem: string): string {
    this.#problem ??= problem;
    return "";
  }
}

const escaped = (value: string): string => JSON.stringify(value).slice(1, -1);

function scalar(item: Record<string, unknown>): string | undefined {
  if (typeof item["numberValue"] === "number") return JSON.stringify(item["numberValue"]);
  if (typeof item["boolValue"] === "boolean") return String(item["boolValue"]);
  return "nullValue" in item ? "null" : undefined;
}

/** `$.a.b[0]['c d']` as its steps; undefined for anything else. */
function parsePath(path: string): Step[] | undefined {
  const steps: Step[] = [];
  const pattern = /\.([^.[\]'"]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/gy;
  pattern.lastIndex = 1;
  let end = 1;
  for (const match of path.matchAll(pattern)) {
    const [whole, name, index, single, double] = match;
    steps.push(index !== undefined ? Number(index) : (name ?? unescape(single ?? double ?? "")));
    end = match.index + whole.length;
  }
  const complete = path.startsWith("$") && end === path.length;
  return complete && typeof steps[0] === "string" ? steps : undefined;
}

const unescape = (quoted: string): string => quoted.replace(/\\(.)/g, "$1");

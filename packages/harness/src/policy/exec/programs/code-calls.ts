/** Finds calls and literals in code of any language with C-like calls and quotes. Pure. */
import { unescapeAll } from "../shell/printf.ts";

export interface Call {
  name: string;
  /** Everything between the brackets of the call, or the rest of the line where it has none. */
  text: string;
  /** The literals in it, without quotes. */
  literals: string[];
}

const maxCallLength = 16_000;

export function findCalls(source: string, names: RegExp): Call[] {
  const calls: Call[] = [];
  for (const match of source.matchAll(names)) {
    const text = readArguments(source, match.index + match[0].length);
    calls.push({ name: match[1]!, text, literals: findLiterals(text) });
    if (calls.length >= 32) break;
  }
  return calls;
}

/** From an opening bracket to its end; without one, to the end of the statement. */
function readArguments(source: string, from: number): string {
  const start = /^\s*/.exec(source.slice(from, from + 50))![0].length + from;
  if (source[start] !== "(")
    return /^(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^;\n])*/.exec(source.slice(start, start + maxCallLength))![0];
  let depth = 0;
  for (let index = start; index < source.length && index < start + maxCallLength; index++) {
    const char = source[index]!;
    if (char === '"' || char === "'" || char === "`") index = skipString(source, index);
    else if (char === "(" || char === "[" || char === "{") depth++;
    else if ((char === ")" || char === "]" || char === "}") && --depth === 0) return source.slice(start + 1, index);
  }
  return source.slice(start + 1, start + maxCallLength);
}

function skipString(source: string, start: number): number {
  const quote = source[start];
  for (let index = start + 1; index < source.length; index++) {
    if (source[index] === "\\") index++;
    else if (source[index] === quote) return index;
  }
  return source.length;
}

export function findLiterals(source: string): string[] {
  const literals: string[] = [];
  for (const match of source.matchAll(
    /"""([\s\S]*?)"""|"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'|`((?:\\.|[^`\\])*)`|\b(?:q|qq|qw)\s*[({[/|]([^)}\]/|]*)[)}\]/|]|%[wWqQ]\[([^\]]*)\]/g,
  )) {
    const body = match[1] ?? match[2] ?? match[3] ?? match[4] ?? match[5] ?? match[6] ?? "";
    if (match[6] !== undefined || match[0].startsWith("qw")) literals.push(...body.trim().split(/\s+/));
    else literals.push(unescapeAll(body));
    if (literals.length >= 64) break;
  }
  return literals;
}

const literal = String.raw`"(?:\\.|[^"\\\n]){0,400}"|'(?:\\.|[^'\\\n]){0,400}'`;
const sum = new RegExp(String.raw`(${literal})\s{0,20}(\+|\.\.?|<>|&|\/)\s{0,20}(${literal})`, "g");
const joinCall = new RegExp(
  String.raw`\b(?:join|resolve|joinpath)\(\s{0,20}((?:${literal})(?:\s{0,20},\s{0,20}(?:${literal}))+)\s{0,20}\)`,
  "g",
);

/** Joins literals that the code adds to each other, so that `"r"+"m"` reads as `"rm"`, and parts of paths. */
export function foldLiterals(source: string): string {
  let text = source;
  for (let round = 0; round < 8; round++) {
    const next = text
      .replace(sum, (whole, left: string, operator: string, right: string) =>
        concatenate([left, right], operator === "/" ? "/" : "", whole),
      )
      .replace(joinCall, (whole, list: string) => concatenate(list.match(new RegExp(literal, "g"))!, "/", whole));
    if (next === text) break;
    text = next;
  }
  return text;
}

/** One literal with the quotes of the first; `whole` where the others have such quotes inside. */
function concatenate(literals: readonly string[], separator: string, whole: string): string {
  const quote = literals[0]![0]!;
  const bodies = literals.map((part) => part.slice(1, -1));
  const isSame = literals.every((part, index) => part[0] === quote || !bodies[index]!.includes(quote));
  return isSame ? `${quote}${bodies.join(separator)}${quote}` : whole;
}

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
/** Calls may be inside of each other: after this much in all, of each further call only the beginning is read. */
const maxWholeLength = 64_000;
const minCallLength = 1_000;

export function findCalls(source: string, names: RegExp): Call[] {
  const calls: Call[] = [];
  let left = maxWholeLength;
  for (const match of source.matchAll(names)) {
    const maxLength = Math.max(minCallLength, Math.min(maxCallLength, left));
    const text = readArguments(source, match.index + match[0].length, maxLength);
    left -= text.length;
    calls.push({ name: match[1]!, text, literals: findLiterals(text) });
    if (calls.length >= 32) break;
  }
  return calls;
}

/** From an opening bracket to its end; without one, to the end of the statement. */
function readArguments(source: string, from: number, maxLength: number): string {
  const start = /^\s*/.exec(source.slice(from, from + 50))![0].length + from;
  if (source[start] !== "(")
    return /^(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^;\n])*/.exec(source.slice(start, start + maxLength))![0];
  let depth = 0;
  for (let index = start; index < source.length && index < start + maxLength; index++) {
    const char = source[index]!;
    if (char === '"' || char === "'" || char === "`") index = skipString(source, index);
    else if (char === "(" || char === "[" || char === "{") depth++;
    else if ((char === ")" || char === "]" || char === "}") && --depth === 0) return source.slice(start + 1, index);
  }
  return source.slice(start + 1, start + maxLength);
}

function skipString(source: string, start: number): number {
  const quote = source[start];
  for (let index = start + 1; index < source.length; index++) {
    if (source[index] === "\\") index++;
    else if (source[index] === quote) return index;
  }
  return source.length;
}

/**
 * Matches the literals of Perl and Ruby between brackets or marks, as in `qx(ls)` and `%w[a b]`. Without an end it
 * continues to the last character, so that text with many beginnings is read once.
 */
const delimited = String.raw`(?:\(([^)]*)(?:\)|$)|\{([^}]*)(?:\}|$)|\[([^\]]*)(?:\]|$)|(?<mark>[/|!#])([^"'\n]{0,200}?)\k<mark>)`;
const perlCode = new RegExp(String.raw`(?:\bqx\s*|%x)${delimited}`, "g");

/** Code for a shell in backticks or one of the other forms of Perl and Ruby. */
export function findShellCode(source: string): string[] {
  const quoted = [...source.matchAll(/`([^`]+)`/g)].map(([, code]) => code!);
  return [...quoted, ...[...source.matchAll(perlCode)].map((match) => getBody(match.slice(1)))];
}

/** The body is in one of the groups; a mark is in the group before it. */
const getBody = ([round, curly, square, , marked]: readonly (string | undefined)[]): string =>
  round ?? curly ?? square ?? marked ?? "";

const literals = new RegExp(
  String.raw`"""([\s\S]*?)"""|"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'|\x60((?:\\.|[^\x60\\])*)\x60|(?:\bq[qw]?\s*|%[wWqQ])${delimited}`,
  "g",
);

export function findLiterals(source: string): string[] {
  const found: string[] = [];
  for (const match of source.matchAll(literals)) {
    const body = match.slice(1, 5).find((group) => group !== undefined) ?? getBody(match.slice(5));
    if (/^(?:qw|%[wW])/.test(match[0])) found.push(...body.trim().split(/\s+/));
    else found.push(unescapeAll(body));
    if (found.length >= 64) break;
  }
  return found;
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

const maxNames = 8;
const assignment = new RegExp(String.raw`(?<![\w.$@])([$@]?\w{1,64})\s{0,20}=\s{0,20}(${literal})`, "g");
const renamed = /\b(?:import\s+(?:\w+\s*,\s*){0,4})(\w{1,64})\s+as\s+(\w{1,64})/g;

/** Puts literals in place of names that are given to a call, and the names of Python's modules in place of others for them. */
export function inlineNames(source: string): string {
  let text = source;
  for (const [, name, alias] of [...source.matchAll(renamed)].slice(0, maxNames))
    text = text.replace(new RegExp(String.raw`(?<![\w.])${alias}(?=\s{0,4}[.(])`, "g"), () => name!);
  const assigned = [...text.matchAll(assignment)].slice(0, maxNames);
  for (const [, name, value] of assigned)
    if (assigned.every((other) => other[1] !== name || other[2] === value))
      text = text.replace(
        new RegExp(String.raw`(?<=[(,]\s{0,4})${name!.replace("$", "\\$")}(?=\s{0,4}[,)])`, "g"),
        () => value!,
      );
  return text;
}

/** Joins the literals to one with the quotes of the first; `whole` where the others have such quotes inside. */
function concatenate(literals: readonly string[], separator: string, whole: string): string {
  const quote = literals[0]![0]!;
  const bodies = literals.map((part) => part.slice(1, -1));
  const isSame = literals.every((part, index) => part[0] === quote || !bodies[index]!.includes(quote));
  return isSame ? `${quote}${bodies.join(separator)}${quote}` : whole;
}

/** Finds calls and literals in code of any language with C-like calls and quotes. Pure. */
import { unescapeAll } from "../shell/printf.ts";

export interface Call {
  name: string;
  /** Everything between the brackets of the call, or the rest of the line where it has none. */
  text: string;
  /** The literals in it, without quotes. */
  literals: string[];
}

/** Expressions for the home directory in several languages. */
export const homeExpression =
  /expanduser\(\s*["']~|environ(?:\.get\(|\[)\s*["']HOME|getenv\(\s*["']HOME|Path\.home\(|homedir\(\)|process\.env\.HOME|env\[["']HOME|ENV\[["']HOME|\$ENV\{["']?HOME|Dir\.home|\$HOME|\$env:USERPROFILE|\$_SERVER\[["']HOME/;

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

/** Joins literals that the code adds to each other, so that `"r"+"m"` reads as `"rm"`. */
export function foldLiterals(source: string): string {
  let text = source;
  for (let round = 0; round < 8; round++) {
    const next = text
      .replace(/"((?:\\.|[^"\\\n]){0,400})"\s*(?:\+|\.\.?|<>|&)\s*"((?:\\.|[^"\\\n]){0,400})"/g, '"$1$2"')
      .replace(/'((?:\\.|[^'\\\n]){0,400})'\s*(?:\+|\.\.?|<>|&)\s*'((?:\\.|[^'\\\n]){0,400})'/g, "'$1$2'");
    if (next === text) break;
    text = next;
  }
  return text;
}

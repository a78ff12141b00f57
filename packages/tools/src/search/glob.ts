/**
 * Globs over paths, in time that is bounded by the product of the two lengths. ripgrep's own `--glob` cannot be used to
 * choose files: what it chooses is searched even if `.gitignore` excludes it. Pure.
 */
import { matchWildcards } from "@tau/ai/internal";
import { ToolsError } from "../errors.ts";

export interface Glob {
  /** Whether it matches a path below the root, with `/` between its parts. */
  matches(path: string): boolean;
  /** Whether it matches every path. */
  readonly matchesAll: boolean;
  /** Coarser globs over base names: whatever matches, matches one of them. Undefined when they would exclude nothing. */
  readonly baseNames: readonly string[] | undefined;
}

type Token =
  | { kind: "literal"; char: string }
  | { kind: "one" }
  | { kind: "many" }
  | { kind: "class"; isNegated: boolean; ranges: readonly (readonly [string, string])[] };

/** A part of a path, or `**`: any number of parts. */
type Part = readonly Token[] | "**";

const maxAlternatives = 256;
/** The length of the longest path of Linux. */
const maxGlobLength = 4_096;

/**
 * `*`, `?`, `[a-z]`, `[!a-z]`, `{a,b}`, `\` before a character that means itself, and `**` for any number of
 * directories. Without a slash it is about the base name, at any depth; with one, about the whole path from the root.
 */
export function parseGlob(pattern: string): Glob {
  if (pattern.length > maxGlobLength) {
    throw new ToolsError("invalid_input", `The glob has more than ${maxGlobLength} characters, which is the limit.`);
  }
  if (pattern.split("/").includes("..")) {
    throw new ToolsError("invalid_input", `The glob ${pattern} leads out of path. Set path to where it leads.`);
  }
  const isAnchored = pattern.includes("/");
  const alternatives = getAlternatives(pattern).map((alternative) => getParts(alternative, isAnchored));
  const tests = alternatives.map(pathTest);
  const coarse = alternatives.map((parts) => toCoarse(parts.at(-1)!));
  return {
    matches: (path) => tests.some((test) => test(path)),
    matchesAll: alternatives.some((parts) => parts.every((part, index) => part === "**" || isLastStar(parts, index))),
    baseNames: coarse.includes("*") ? undefined : [...new Set(coarse)],
  };
}

const isLastStar = (parts: readonly Part[], index: number) =>
  index > 0 && index === parts.length - 1 && (parts[index] as readonly Token[]).every(({ kind }) => kind === "many");

const invalid = (pattern: string, why: string) =>
  new ToolsError(
    "invalid_input",
    `${JSON.stringify(pattern)} is not a valid glob: ${why}. Put \\ before a character that means itself.`,
  );

/** Expands braces: `a{b,c}` is `ab` or `ac`. */
function getAlternatives(pattern: string): string[] {
  const braces = firstBraces(pattern);
  if (!braces) return [pattern];
  const rests = getAlternatives(pattern.slice(braces.end + 1));
  const heads = braces.choices.flatMap(getAlternatives);
  if (heads.length * rests.length > maxAlternatives) {
    throw invalid(pattern, `it has more than ${maxAlternatives} alternatives`);
  }
  const before = pattern.slice(0, braces.start);
  return heads.flatMap((head) => rests.map((rest) => before + head + rest));
}

function firstBraces(pattern: string): { start: number; end: number; choices: string[] } | undefined {
  const choices: string[] = [];
  let start = -1;
  let from = 0;
  let depth = 0;
  for (let index = 0; index < pattern.length; index++) {
    const char = pattern[index];
    if (char === "\\") index++;
    else if (char === "[") index = classEnd(pattern, index) ?? index;
    else if (char === "{" && depth++ === 0) {
      start = index;
      from = index + 1;
    } else if (depth > 0 && (char === "}" || char === ",")) {
      if (depth === 1) {
        choices.push(pattern.slice(from, index));
        from = index + 1;
      }
      if (char === "}" && --depth === 0) return { start, end: index, choices };
    }
  }
  if (depth > 0) throw invalid(pattern, "a { is not closed");
  return undefined;
}

/** Where a class ends; a `]` right at its beginning is one of its characters. */
function classEnd(pattern: string, start: number): number | undefined {
  const first = start + (/[!^]/.test(pattern[start + 1] ?? "") ? 2 : 1);
  const end = pattern.indexOf("]", first + 1);
  return end < 0 ? undefined : end;
}

function getParts(pattern: string, isAnchored: boolean): Part[] {
  const parts: Part[] = pattern
    .split("/")
    .filter((part) => part !== "" && part !== ".")
    .map((part) => (part === "**" ? part : toTokens(part)));
  if (!isAnchored) parts.unshift("**");
  // A directory stands for what is in it, and `**` at the end for at least one name.
  if (pattern.endsWith("/")) parts.push("**");
  if (parts.length === 0 || parts.at(-1) === "**") parts.push([{ kind: "many" }]);
  return parts;
}

function toTokens(part: string): Token[] {
  const tokens: Token[] = [];
  for (let index = 0; index < part.length; index++) {
    const char = String.fromCodePoint(part.codePointAt(index)!);
    index += char.length - 1;
    if (char === "*") tokens.push({ kind: "many" });
    else if (char === "?") tokens.push({ kind: "one" });
    else if (char === "[") {
      const end = classEnd(part, index);
      if (end === undefined) throw invalid(part, "a [ is not closed");
      tokens.push(toClass(part.slice(index + 1, end)));
      index = end;
    } else if (char === "\\" && index + 1 < part.length) {
      const escaped = String.fromCodePoint(part.codePointAt(index + 1)!);
      index += escaped.length;
      tokens.push({ kind: "literal", char: escaped });
    } else tokens.push({ kind: "literal", char });
  }
  return tokens;
}

function toClass(content: string): Token {
  const isNegated = /^[!^]/.test(content);
  const chars = [...(isNegated ? content.slice(1) : content)];
  const ranges: [string, string][] = [];
  for (let index = 0; index < chars.length; index++) {
    const isRange = chars[index + 1] === "-" && index + 2 < chars.length;
    ranges.push([chars[index]!, chars[isRange ? index + 2 : index]!]);
    if (isRange) index += 2;
  }
  return { kind: "class", isNegated, ranges };
}

type Test = (text: string) => boolean;

function pathTest(parts: readonly Part[]): Test {
  const tests = parts.map((part) => (part === "**" ? part : nameTest(part)));
  const [first, name] = tests;
  if (tests.length === 2 && first === "**" && typeof name === "function") {
    return (path) => name(path.slice(path.lastIndexOf("/") + 1));
  }
  return (path) =>
    matchWildcards(
      tests,
      path.split("/"),
      (test) => test === "**",
      (test, part) => (test as Test)(part),
    );
}

/** Nearly all names in globs have one of these shapes, which can be tested faster: a tree may have a million files. */
function nameTest(tokens: readonly Token[]): Test {
  const shape = tokens.map(({ kind }) => (kind === "many" ? "*" : kind === "literal" ? "x" : "?")).join("");
  const text = tokens.map((token) => (token.kind === "literal" ? token.char : "")).join("");
  if (/^\*+$/.test(shape)) return () => true;
  if (/^x+$/.test(shape)) return (name) => name === text;
  if (/^\*+x+$/.test(shape)) return (name) => name.endsWith(text);
  if (/^x+\*+$/.test(shape)) return (name) => name.startsWith(text);
  return (name) => matchWildcards(tokens, [...name], (token) => token.kind === "many", fitsChar);
}

function fitsChar(token: Token, char: string): boolean {
  if (token.kind === "literal") return token.char === char;
  if (token.kind !== "class") return true;
  const code = char.codePointAt(0)!;
  const isIn = token.ranges.some(([from, to]) => from.codePointAt(0)! <= code && code <= to.codePointAt(0)!);
  return isIn !== token.isNegated;
}

/** Only what ripgrep certainly reads in the same way: its `?` is a byte, and its type globs may hold no colon. */
function toCoarse(part: Part): string {
  if (part === "**") return "*";
  const glob = part.map((token) => (token.kind === "literal" && !/[\\:*?[\]{}!,]/.test(token.char) ? token.char : "*"));
  return glob.join("").replace(/\*+/g, "*");
}

/** Lets ripgrep exclude most files that do not match, after it has applied the ignore files. */
export const typeArgs = ({ baseNames }: Glob): string[] =>
  baseNames ? [...baseNames.map((glob) => `--type-add=wanted:${glob}`), "--type=wanted"] : [];

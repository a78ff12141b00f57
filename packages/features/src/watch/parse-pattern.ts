/**
 * Reads a pattern: the part of regular expressions that is matched in linear time. What is beyond it is refused with a reason,
 * never read as something else. Pure.
 */

/** Inclusive ranges of code points. */
export type Ranges = readonly (readonly [number, number])[];

export type PatternNode =
  | { readonly kind: "set"; readonly ranges: Ranges; readonly isNegated: boolean }
  | { readonly kind: "assert"; readonly what: "lineStart" | "lineEnd" | "wordEdge" | "noWordEdge" }
  | { readonly kind: "sequence"; readonly parts: readonly PatternNode[] }
  | { readonly kind: "choice"; readonly parts: readonly PatternNode[] }
  /** `max` is undefined for any number. */
  | { readonly kind: "repeat"; readonly part: PatternNode; readonly min: number; readonly max: number | undefined };

interface ParsedPattern {
  readonly node: PatternNode;
  readonly ignoresCase: boolean;
}

/** A pattern that is refused. The message completes "The pattern …". */
export class PatternProblem extends Error {}

const maxPatternLength = 1_000;
const maxDepth = 50;
const maxRepeat = 1_000;
const maxCodePoint = 0x10ffff;

const digits: Ranges = [[48, 57]];
const words: Ranges = [
  [48, 57],
  [65, 90],
  [95, 95],
  [97, 122],
];
const spaces: Ranges = [
  [9, 13],
  [32, 32],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
const lineEnds: Ranges = [
  [10, 10],
  [13, 13],
  [0x2028, 0x2029],
];

const classes: Readonly<Record<string, Ranges>> = { d: digits, w: words, s: spaces };
const controls: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, f: 12, v: 11, "0": 0 };

/** Throws `PatternProblem`. */
export function parsePattern(text: string): ParsedPattern {
  if (text.length > maxPatternLength) throw new PatternProblem(`is longer than ${maxPatternLength} characters`);
  const ignoresCase = text.startsWith("(?i)");
  const parser = new Parser([...text].slice(ignoresCase ? 4 : 0));
  return { node: parser.parse(), ignoresCase };
}

class Parser {
  readonly #characters: readonly string[];
  #index = 0;
  #depth = 0;

  constructor(characters: readonly string[]) {
    this.#characters = characters;
  }

  parse(): PatternNode {
    const node = this.#parseChoice();
    if (this.#index < this.#characters.length)
      throw new PatternProblem("closes a group with `)` that it does not open");
    return node;
  }

  get #next(): string | undefined {
    return this.#characters[this.#index];
  }

  #take(text: string): boolean {
    if (this.#characters.slice(this.#index, this.#index + text.length).join("") !== text) return false;
    this.#index += text.length;
    return true;
  }

  #parseChoice(): PatternNode {
    if (++this.#depth > maxDepth) throw new PatternProblem(`has more than ${maxDepth} groups inside of each other`);
    const parts = [this.#parseSequence()];
    while (this.#take("|")) parts.push(this.#parseSequence());
    this.#depth--;
    return parts.length === 1 ? parts[0]! : { kind: "choice", parts };
  }

  #parseSequence(): PatternNode {
    const parts: PatternNode[] = [];
    while (this.#next !== undefined && this.#next !== "|" && this.#next !== ")") parts.push(this.#parseRepeat());
    return { kind: "sequence", parts };
  }

  #parseRepeat(): PatternNode {
    const part = this.#parseAtom();
    const times = this.#parseTimes();
    if (!times) return part;
    if (part.kind === "assert") throw new PatternProblem("repeats an assertion such as `^` or `\\b`");
    // Whether it takes much or little first makes no difference to whether it matches.
    this.#take("?");
    if (this.#next === "+") throw new PatternProblem("has a possessive quantifier (`++`)");
    if (this.#parseTimes()) throw new PatternProblem("has two quantifiers behind each other");
    return { kind: "repeat", part, ...times };
  }

  #parseTimes(): { min: number; max: number | undefined } | undefined {
    if (this.#take("*")) return { min: 0, max: undefined };
    if (this.#take("+")) return { min: 1, max: undefined };
    if (this.#take("?")) return { min: 0, max: 1 };
    const [all, least, comma, most] =
      /^\{(\d+)(,?)(\d*)\}/.exec(this.#characters.slice(this.#index, this.#index + 12).join("")) ?? [];
    if (all === undefined) return undefined;
    this.#index += all.length;
    const min = Number(least);
    const max = comma === "" ? min : most === "" ? undefined : Number(most);
    if (max !== undefined && max < min) throw new PatternProblem(`has the numbers of \`${all}\` in the wrong order`);
    if (Math.max(min, max ?? 0) > maxRepeat)
      throw new PatternProblem(`repeats more than ${maxRepeat} times (\`${all}\`)`);
    return { min, max };
  }

  #parseAtom(): PatternNode {
    const character = this.#next!;
    this.#index++;
    switch (character) {
      case "(":
        return this.#parseGroup();
      case "[":
        return this.#parseClass();
      case "\\":
        return this.#parseEscape();
      case ".":
        return { kind: "set", ranges: lineEnds, isNegated: true };
      case "^":
        return { kind: "assert", what: "lineStart" };
      case "$":
        return { kind: "assert", what: "lineEnd" };
      case "*":
      case "+":
      case "?":
      case "{":
      case "}":
      case "]":
        throw new PatternProblem(
          `has \`${character}\` where it means nothing; write \`\\${character}\` for the character`,
        );
      default:
        return toSet(character.codePointAt(0)!);
    }
  }

  #parseGroup(): PatternNode {
    if (this.#next === "?" && !this.#take("?:")) {
      const rest = this.#characters.slice(this.#index, this.#index + 3).join("");
      if (/^\?<?[=!]/.test(rest))
        throw new PatternProblem("looks ahead or behind, which is not matched in linear time");
      throw new PatternProblem(
        "has a group that begins with `(?`: there are only `(…)`, `(?:…)` and `(?i)` at the beginning",
      );
    }
    const node = this.#parseChoice();
    if (!this.#take(")")) throw new PatternProblem("does not close a group with `)`");
    return node;
  }

  #parseEscape(): PatternNode {
    if (this.#take("b")) return { kind: "assert", what: "wordEdge" };
    if (this.#take("B")) return { kind: "assert", what: "noWordEdge" };
    const set = this.#parseEscapedClass();
    if (set) return { kind: "set", ...set };
    return toSet(this.#parseEscapedCharacter());
  }

  #parseEscapedClass(): { ranges: Ranges; isNegated: boolean } | undefined {
    const name = this.#next ?? "";
    const ranges = classes[name.toLowerCase()];
    if (!ranges || name === "") return undefined;
    this.#index++;
    return { ranges, isNegated: name !== name.toLowerCase() };
  }

  /** The code point of an escaped character; the backslash is read already. */
  #parseEscapedCharacter(): number {
    const character = this.#next;
    if (character === undefined) throw new PatternProblem("ends with a backslash");
    this.#index++;
    if (/[1-9]/.test(character) || character === "k") {
      throw new PatternProblem(`refers back to a group (\`\\${character}\`), which is not matched in linear time`);
    }
    if (character === "x" || character === "u") return this.#parseNumber(character);
    const control = controls[character];
    if (control !== undefined) return control;
    if (/[a-z]/i.test(character)) throw new PatternProblem(`has \`\\${character}\`, which is not known here`);
    return character.codePointAt(0)!;
  }

  #parseNumber(kind: "x" | "u"): number {
    const rest = this.#characters.slice(this.#index, this.#index + 10).join("");
    const [all, plain, braced] =
      (kind === "x" ? /^([\da-f]{2})/i : /^(?:([\da-f]{4})|\{([\da-f]{1,6})\})/i).exec(rest) ?? [];
    const point = Number.parseInt(plain ?? braced ?? "", 16);
    if (all === undefined || point > maxCodePoint)
      throw new PatternProblem(`has \`\\${kind}\` without a hexadecimal number`);
    this.#index += all.length;
    return point;
  }

  #parseClass(): PatternNode {
    const isNegated = this.#take("^");
    const ranges: (readonly [number, number])[] = [];
    for (let isFirst = true; !this.#take("]"); isFirst = false) {
      if (this.#next === undefined) throw new PatternProblem("does not close a class with `]`");
      if (this.#next === "[") throw new PatternProblem("has `[` in a class; write `\\[` for the character");
      const from = this.#parseClassItem(ranges);
      if (from === undefined) continue;
      if (
        this.#next !== "-" ||
        this.#characters[this.#index + 1] === "]" ||
        this.#characters[this.#index + 1] === undefined
      ) {
        ranges.push([from, from]);
        continue;
      }
      if (isFirst && from === 45) throw new PatternProblem("has a class whose first range begins with `-`");
      this.#index++;
      const to = this.#parseClassItem(undefined);
      if (to === undefined || to < from) throw new PatternProblem("has a range in a class that ends before it begins");
      ranges.push([from, to]);
    }
    return { kind: "set", ranges, isNegated };
  }

  /** The code point of the next item. Undefined for a class such as `\d`, which goes into `ranges`. */
  #parseClassItem(ranges: (readonly [number, number])[] | undefined): number | undefined {
    const character = this.#next!;
    if (!this.#take("\\")) {
      this.#index++;
      return character.codePointAt(0)!;
    }
    const set = this.#parseEscapedClass();
    if (!set) return this.#take("b") ? 8 : this.#parseEscapedCharacter();
    if (!ranges) throw new PatternProblem("has a range in a class that ends with a class");
    ranges.push(...(set.isNegated ? invert(set.ranges) : set.ranges));
    return undefined;
  }
}

const toSet = (point: number): PatternNode => ({ kind: "set", ranges: [[point, point]], isNegated: false });

/** `ranges` are sorted and do not touch. */
function invert(ranges: Ranges): Ranges {
  const ends = [[-1, -1] as const, ...ranges, [maxCodePoint + 1, maxCodePoint + 1] as const];
  return ends.slice(1).flatMap(([from], index) => {
    const start = ends[index]![1] + 1;
    return start < from ? [[start, from - 1] as const] : [];
  });
}

export const isInRanges = (ranges: Ranges, point: number): boolean =>
  ranges.some(([from, to]) => from <= point && point <= to);
export const isWordPoint = (point: number): boolean => isInRanges(words, point);
export const isLineEnd = (point: number): boolean => isInRanges(lineEnds, point);

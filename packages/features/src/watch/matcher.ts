/**
 * Matches a pattern by following all its states at once: the time is the length of the text times the size of the pattern, whatever
 * both are. Pure.
 */
import {
  isInRanges,
  isLineEnd,
  isWordPoint,
  parsePattern,
  type PatternNode,
  PatternProblem,
  type Ranges,
} from "./parse-pattern.ts";

type Instruction =
  | { readonly kind: "set"; readonly ranges: Ranges; readonly isNegated: boolean }
  | { readonly kind: "assert"; readonly what: (PatternNode & { kind: "assert" })["what"] }
  | { kind: "split"; to: number; or: number }
  | { readonly kind: "match" };

/** A pattern with more instructions would be slow on long texts. */
const maxInstructions = 500;

export interface Matcher {
  /** The instructions that each character of a text may take. */
  readonly size: number;
  /** Whether the pattern is anywhere in the text. `onStep` is called for each instruction that is looked at. */
  matches(text: string, onStep?: () => void): boolean;
}

/** Throws `PatternProblem` for a pattern that is not valid, or that would take too long. */
export function createMatcher(pattern: string): Matcher {
  const { node, ignoresCase } = parsePattern(pattern);
  const program: Instruction[] = [];
  compile(node, program);
  program.push({ kind: "match" });
  const matcher: Matcher = {
    size: program.length,
    matches: (text, onStep) => run(program, { ignoresCase, text, onStep }),
  };
  if (matcher.matches("")) throw new PatternProblem("matches the empty text, so it would stop every answer");
  return matcher;
}

function compile(node: PatternNode, program: Instruction[]): void {
  if (program.length > maxInstructions)
    throw new PatternProblem(`is too large: with its repetitions it has more than ${maxInstructions} steps`);
  switch (node.kind) {
    case "set":
    case "assert":
      program.push(node);
      return;
    case "sequence":
      for (const part of node.parts) compile(part, program);
      if (node.parts.length === 0) compileNothing(program);
      return;
    case "choice":
      return compileChoice(node.parts, program);
    case "repeat":
      return compileRepeat(node, program);
  }
}

/** A jump is a split whose two ways are the same. */
const createSplit = () => ({ kind: "split" as const, to: 0, or: 0 });

/** Nothing has a size too, so that repeating it many times is refused. */
function compileNothing(program: Instruction[]): void {
  const next = program.length + 1;
  program.push({ kind: "split", to: next, or: next });
}

function compileChoice(parts: readonly PatternNode[], program: Instruction[]): void {
  const jumps: ReturnType<typeof createSplit>[] = [];
  for (const [index, part] of parts.entries()) {
    const split = createSplit();
    const isLast = index === parts.length - 1;
    if (!isLast) split.to = program.push(split);
    compile(part, program);
    const jump = createSplit();
    if (!isLast) jumps.push(jump);
    if (!isLast) split.or = program.push(jump);
  }
  for (const jump of jumps) jump.to = jump.or = program.length;
}

function compileRepeat({ part, min, max }: PatternNode & { kind: "repeat" }, program: Instruction[]): void {
  if (max === 0) return compileNothing(program);
  for (let count = 0; count < min; count++) compile(part, program);
  if (max === undefined) {
    const split = createSplit();
    const start = program.push(split) - 1;
    split.to = start + 1;
    compile(part, program);
    split.or = program.push({ kind: "split", to: start, or: start });
    return;
  }
  const splits: ReturnType<typeof createSplit>[] = [];
  for (let count = min; count < max; count++) {
    const split = createSplit();
    split.to = program.push(split);
    splits.push(split);
    compile(part, program);
  }
  for (const split of splits) split.or = program.length;
}

/** Two neighbouring characters; undefined beyond the ends of the text. */
interface Place {
  before: number | undefined;
  after: number | undefined;
}

function holds(what: (PatternNode & { kind: "assert" })["what"], { before, after }: Place): boolean {
  const isEdge = (before !== undefined && isWordPoint(before)) !== (after !== undefined && isWordPoint(after));
  switch (what) {
    case "lineStart":
      return before === undefined || isLineEnd(before);
    case "lineEnd":
      return after === undefined || isLineEnd(after);
    case "wordEdge":
      return isEdge;
    case "noWordEdge":
      return !isEdge;
  }
}

interface Run {
  ignoresCase: boolean;
  text: string;
  onStep: (() => void) | undefined;
}

function run(program: readonly Instruction[], { ignoresCase, text, onStep }: Run): boolean {
  /** The step of the text at which an instruction was reached last, so that each is followed once a step. */
  const reached = new Int32Array(program.length).fill(-1);
  let states: number[] = [];
  let before: number | undefined;
  let step = 0;
  const end = text.length;
  for (let index = 0; index <= end; step++) {
    const after = text.codePointAt(index);
    const sets = follow(program, { starts: [...states, 0], place: { before, after }, reached, step, onStep });
    if (!sets) return true;
    if (after === undefined) return false;
    const forms = ignoresCase ? listCases(after) : [after];
    states = sets.filter((state) => accepts(program[state]!, forms)).map((state) => state + 1);
    index += after > 0xffff ? 2 : 1;
    before = after;
  }
  return false;
}

interface Followed {
  starts: readonly number[];
  place: Place;
  reached: Int32Array;
  step: number;
  onStep: (() => void) | undefined;
}

/** Lists the instructions that read a character. Undefined once the pattern has matched. */
function follow(
  program: readonly Instruction[],
  { starts, place, reached, step, onStep }: Followed,
): number[] | undefined {
  const sets: number[] = [];
  const stack = [...starts];
  for (let state = stack.pop(); state !== undefined; state = stack.pop()) {
    onStep?.();
    if (reached[state] === step) continue;
    reached[state] = step;
    const instruction = program[state]!;
    if (instruction.kind === "match") return undefined;
    if (instruction.kind === "set") sets.push(state);
    else if (instruction.kind === "split") stack.push(instruction.to, instruction.or);
    else if (holds(instruction.what, place)) stack.push(state + 1);
  }
  return sets;
}

const accepts = (instruction: Instruction, points: readonly number[]): boolean =>
  instruction.kind === "set" && points.some((point) => isInRanges(instruction.ranges, point)) !== instruction.isNegated;

/** A character, and how it is written in the other case if that is one character too. */
function listCases(point: number): number[] {
  const text = String.fromCodePoint(point);
  const forms = [text, text.toLowerCase(), text.toUpperCase()].filter((form) => [...form].length === 1);
  return forms.map((form) => form.codePointAt(0)!);
}

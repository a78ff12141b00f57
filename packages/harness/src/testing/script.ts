/** A scripted model that is strict: what it was not written for is a mistake that shows what was expected, and what came. */
import { type ScriptedModel, scriptedModel, type ScriptedModelOptions, type ScriptedTurn } from "@tau/ai/testing";
import type { Message } from "@tau/ai";
import { HarnessError } from "../errors.ts";

/** A turn that says what it answers to. The conversation must end with these lines; see `transcript`. */
export interface ExpectedTurn {
  asked: readonly (string | RegExp)[];
  answer: ScriptedTurn;
}

export type TestTurn = ScriptedTurn | ExpectedTurn;

export interface TestModel extends Omit<ScriptedModel, "add"> {
  /** Adds turns to the end of the script. */
  add(...turns: TestTurn[]): void;
}

export interface StrictModelOptions extends ScriptedModelOptions {
  /** A conversation as lines. */
  lines: (messages: Message[]) => string[];
  onMiss: (miss: HarnessError) => void;
}

export function strictModel(turns: readonly TestTurn[], { lines, onMiss, ...options }: StrictModelOptions): TestModel {
  const script = [...turns];
  const next: ScriptedTurn = (context, _request, turn) => {
    inner.add(next);
    const given = script.shift();
    const miss = getMiss(given, lines(context.messages), turn);
    if (miss) {
      onMiss(miss);
      throw miss;
    }
    return given && "asked" in given ? given.answer : (given as ScriptedTurn);
  };
  const inner = scriptedModel([next], options);
  return Object.defineProperties(
    { ...inner },
    {
      asked: { value: inner.asked },
      add: { value: (...more: TestTurn[]) => void script.push(...more) },
      left: { get: () => script.length },
      dispose: { value: () => inner.dispose() },
    },
  ) as TestModel;
}

/** How much of a conversation a mistake shows. */
const maxShown = 12;

function getMiss(given: TestTurn | undefined, said: readonly string[], turn: number): HarnessError | undefined {
  if (!given) {
    const shown = said.slice(-maxShown).map((line) => `  ${line}`);
    const head = `The script has no turn ${turn}: the model was asked more often than it has answers. It was asked:`;
    return new HarnessError("script_missed", [head, ...shown].join("\n"));
  }
  if (!("asked" in given)) return undefined;
  const { asked } = given;
  const end = said.slice(Math.max(0, said.length - asked.length));
  if (asked.length === end.length && asked.every((wanted, at) => matches(wanted, end[at]!))) return undefined;
  const head = `Turn ${turn} of the script was asked something else (- expected, + was):`;
  return new HarnessError(
    "script_missed",
    [head, ...difference(asked, said.slice(-asked.length - maxShown))].join("\n"),
  );
}

const matches = (wanted: string | RegExp, line: string): boolean =>
  typeof wanted === "string" ? wanted === line : wanted.test(line);

/**
 * Both as one list, the lines that they share once. Of what was, only the end is shown: as long as what was expected, or
 * as far back as they have something in common.
 */
export function difference(expected: readonly (string | RegExp)[], actual: readonly string[]): string[] {
  const shared = sharedLengths(expected, actual);
  const lines: string[] = [];
  let e = 0;
  let a = Math.max(0, actual.length - expected.length);
  while (shared[0]![a]! < shared[0]![0]!) a--;
  while (e < expected.length || a < actual.length) {
    const wanted = expected[e];
    const line = actual[a];
    if (wanted !== undefined && line !== undefined && matches(wanted, line)) {
      lines.push(`  ${line}`);
      e++;
      a++;
    } else if (line === undefined || (wanted !== undefined && shared[e + 1]![a]! >= shared[e]![a + 1]!)) {
      lines.push(`- ${String(wanted)}`);
      e++;
    } else {
      lines.push(`+ ${line}`);
      a++;
    }
  }
  return lines;
}

/** How many lines the rest of one has in common with the rest of the other, for every two rests. */
function sharedLengths(expected: readonly (string | RegExp)[], actual: readonly string[]): number[][] {
  const table = Array.from({ length: expected.length + 1 }, () => Array.from({ length: actual.length + 1 }, () => 0));
  for (let e = expected.length - 1; e >= 0; e--) {
    for (let a = actual.length - 1; a >= 0; a--) {
      table[e]![a] = matches(expected[e]!, actual[a]!)
        ? table[e + 1]![a + 1]! + 1
        : Math.max(table[e + 1]![a]!, table[e]![a + 1]!);
    }
  }
  return table;
}

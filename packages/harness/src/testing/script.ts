/** A scripted model that fails if it is asked something unexpected, and shows the difference. */
import { type ScriptedModel, scriptedModel, type ScriptedModelOptions, type ScriptedTurn } from "@tau/ai/testing";
import type { Message } from "@tau/ai";
import { HarnessError } from "@tau/protocol";

/** A turn with its expected request: the conversation must end with these lines. See `transcript`. */
export interface ExpectedTurn {
  asked: readonly (string | RegExp)[];
  answer: ScriptedTurn;
}

export type TestTurn = ScriptedTurn | ExpectedTurn;

export interface TestModel extends Omit<ScriptedModel, "add"> {
  /** Appends turns to the script. */
  add(...turns: TestTurn[]): void;
}

interface StrictModelOptions extends ScriptedModelOptions {
  /** Formats a conversation. */
  lines: (messages: Message[]) => string[];
  onMiss: (miss: HarnessError) => void;
}

export function strictModel(turns: readonly TestTurn[], { lines, onMiss, ...options }: StrictModelOptions): TestModel {
  const script = [...turns];
  const next: ScriptedTurn = (context, _request, turn) => {
    inner.add(next);
    const scripted = script.shift();
    const miss = findMiss(scripted, () => lines(context.messages), turn);
    if (miss) {
      onMiss(miss);
      throw miss;
    }
    return scripted && "asked" in scripted ? scripted.answer : (scripted as ScriptedTurn);
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

/** How many lines of a conversation an error shows. */
const maxLines = 12;

/** Formats the conversation only where it is compared or shown: most turns answer whatever they are asked. */
function findMiss(
  scripted: TestTurn | undefined,
  formatConversation: () => readonly string[],
  turn: number,
): HarnessError | undefined {
  if (!scripted) {
    const lines = formatConversation()
      .slice(-maxLines)
      .map((line) => `  ${line}`);
    const head = `The script has no turn ${turn}, but the model was asked:`;
    return new HarnessError("script_missed", [head, ...lines].join("\n"));
  }
  if (!("asked" in scripted)) return undefined;
  const { asked } = scripted;
  const conversation = formatConversation();
  const end = conversation.slice(Math.max(0, conversation.length - asked.length));
  if (asked.length === end.length && asked.every((line, index) => matches(line, end[index]!))) return undefined;
  const head = `Turn ${turn} of the script was asked something else (- expected, + actual):`;
  const lines = formatDifference(asked, conversation.slice(-asked.length - maxLines));
  return new HarnessError("script_missed", [head, ...lines].join("\n"));
}

const matches = (expected: string | RegExp, line: string): boolean =>
  typeof expected === "string" ? expected === line : expected.test(line);

/**
 * Merges both lists, with shared lines once. Of the actual lines, only the end is shown: as many as are expected, or from
 * the first shared line on.
 */
export function formatDifference(expected: readonly (string | RegExp)[], actual: readonly string[]): string[] {
  const shared = countShared(expected, actual);
  const lines: string[] = [];
  let e = 0;
  let a = Math.max(0, actual.length - expected.length);
  while (shared[0]![a]! < shared[0]![0]!) a--;
  while (e < expected.length || a < actual.length) {
    const expectedLine = expected[e];
    const line = actual[a];
    if (expectedLine !== undefined && line !== undefined && matches(expectedLine, line)) {
      lines.push(`  ${line}`);
      e++;
      a++;
    } else if (line === undefined || (expectedLine !== undefined && shared[e + 1]![a]! >= shared[e]![a + 1]!)) {
      lines.push(`- ${String(expectedLine)}`);
      e++;
    } else {
      lines.push(`+ ${line}`);
      a++;
    }
  }
  return lines;
}

/** For each pair of positions, how many lines the rests of both lists share (longest common subsequence). */
function countShared(expected: readonly (string | RegExp)[], actual: readonly string[]): number[][] {
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

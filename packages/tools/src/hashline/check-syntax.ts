/** Finds out whether an edit has broken the syntax of a file. */
import { type Clock, systemClock } from "@tau/ai";
import { untilAborted, untilTimeout } from "@tau/ai/internal";
import { maxSyntaxBytes, type Syntax } from "../platform/syntax.ts";
import type { TextFile } from "./text.ts";

interface EditedText {
  /** The path as the model typed it. */
  typed: string;
  before: TextFile;
  after: TextFile;
}

/** A parser that takes longer costs the note. In milliseconds, for all files of a call. */
const maxCheckMs = 1_000;
/** More files of one call are not checked. */
const maxChecked = 10;

interface CheckPorts {
  syntax?: Syntax | undefined;
  clock?: Clock | undefined;
}

/** Parsers that have not answered an earlier check yet: one that hangs does not hold every edit. */
const busy = new WeakSet<Syntax>();

/** A sentence for each file that could be parsed before and cannot now. Never rejects, and parses only languages it knows. */
export async function findBrokenSyntax(
  { syntax, clock = systemClock }: CheckPorts,
  edited: readonly EditedText[],
  signal?: AbortSignal,
): Promise<string[]> {
  if (!syntax || busy.has(syntax)) return [];
  const isChecked = ({ typed, before, after }: EditedText) =>
    syntax.knows(typed) && Math.max(before.text.length, after.text.length) <= maxSyntaxBytes;
  const checked = edited.filter(isChecked).slice(0, maxChecked);
  if (checked.length === 0) return [];
  const notes: string[] = [];
  const checkAll = async () => {
    for (const file of checked) notes.push(...(await check(syntax, file)));
  };
  busy.add(syntax);
  const done = checkAll().finally(() => busy.delete(syntax));
  await untilAborted(untilTimeout(done, maxCheckMs, clock), signal);
  return [...notes];
}

/** The text before is parsed only if the text after has an error. */
async function check(syntax: Syntax, { typed, before, after }: EditedText): Promise<string[]> {
  const getErrorLine = async ({ text }: TextFile) => {
    const outline = await syntax.getOutline(typed, text.toString("utf8"));
    return outline.kind === "outline" ? (outline.errorLine ?? 0) : undefined;
  };
  const line = await getErrorLine(after);
  if (!line || (await getErrorLine(before)) !== 0) return [];
  return [`${typed} has a syntax error now, at line ${line}; before this edit it had none.`];
}

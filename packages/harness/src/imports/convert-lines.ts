/** Converts a log with one JSON object a line. */
import type { SessionEntry } from "../session/entry.ts";
import { type Conversion, type ConvertedInfo, Notes, noteTexts } from "./conversion.ts";
import { EntryChain } from "./entry-chain.ts";
import { type ForeignRecord, parseRecord } from "./foreign-values.ts";
import { readLines, type ReadLinesOptions } from "./read-lines.ts";

export interface ConversionState {
  chain: EntryChain;
  info: ConvertedInfo;
  notes: Notes;
  /** For lines that have no time of their own. */
  lastTime: number;
}

export interface LineConverter {
  push(line: ForeignRecord, lineNumber: number): void;
  /** Called after the last line, before calls without a result get one. */
  end?(): void;
}

export function convertLines(
  path: string,
  createConverter: (state: ConversionState) => LineConverter,
  options: ReadLinesOptions = {},
): Conversion {
  const ready: SessionEntry[] = [];
  const notes = new Notes();
  const info: ConvertedInfo = { cwd: "", started: undefined };
  const chain = new EntryChain((entry) => ready.push(entry));
  const state: ConversionState = { chain, info, notes, lastTime: 0 };
  const converter = createConverter(state);
  async function* convert(): AsyncGenerator<SessionEntry> {
    for await (const { number, text, isOpen } of readLines(path, options)) {
      if (text?.trim() === "") continue;
      const record = text === undefined ? undefined : parseRecord(text);
      if (record) converter.push(record, number);
      else notes.add(text === undefined ? noteTexts.tooLong : isOpen ? noteTexts.open : noteTexts.unreadable);
      yield* ready.splice(0);
    }
    converter.end?.();
    chain.end(state.lastTime);
    addName(state);
    notes.add(noteTexts.droppedResult, chain.droppedResults);
    yield* ready;
  }
  return {
    entries: convert(),
    info,
    get notes() {
      return notes.list();
    },
  };
}

/** Adds the name of the session at its end, where it does not move anything when the session grows. */
export function addName({ chain, info, lastTime }: Pick<ConversionState, "chain" | "info" | "lastTime">): void {
  const { name } = info;
  if (name === undefined || name.trim() === "" || chain.count === 0) return;
  chain.add(chain.last, { key: `name ${name}`, time: lastTime }, () => ({ type: "session_info", name: name.trim() }));
}

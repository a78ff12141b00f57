import type { Draft } from "../draft.ts";
import { list, record } from "../read.ts";

type Fields = Record<string, unknown>;

/** The one choice of a chunk that is read. The others, where a server gives several, are other answers. */
export function getChoice(chunk: Fields): Fields {
  const choices = list(chunk["choices"]).map(record);
  return choices.find(({ index }) => index === 0) ?? choices.find(({ index }) => typeof index !== "number") ?? {};
}

/**
 * What a choice adds. Servers that do not stream put all of it into one `message`; where words have come before, a
 * message only repeats them.
 */
export function toDelta(choice: Fields, draft: Draft): Fields {
  const delta = record(choice["delta"]);
  const isFirst = draft.message.content.length === 0;
  return isFirst && Object.keys(delta).length === 0 ? record(choice["message"]) : delta;
}

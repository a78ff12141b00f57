import type { Draft } from "../draft.ts";
import { asArray, asRecord, asString } from "../../json.ts";

type Fields = Record<string, unknown>;

/** The choice with index 0. Other choices are alternative answers and are ignored. */
export function getChoice(chunk: Fields): Fields {
  const choices = asArray(chunk["choices"]).map(asRecord);
  return choices.find(({ index }) => index === 0) ?? choices.find(({ index }) => typeof index !== "number") ?? {};
}

/** Empty while the choice continues. Some servers then send the text `null`. */
export function getFinishReason({ finish_reason: reason }: Fields): string {
  return reason === "null" ? "" : asString(reason);
}

/**
 * The new content of a choice. Servers that do not stream send the whole answer in `message`. After streamed content
 * `message` only repeats it and is ignored.
 */
export function toDelta(choice: Fields, draft: Draft): Fields {
  const delta = asRecord(choice["delta"]);
  const isFirst = draft.message.content.length === 0;
  return isFirst && Object.keys(delta).length === 0 ? asRecord(choice["message"]) : delta;
}

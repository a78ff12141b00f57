/** Decides how much of a request a server on an open WebSocket knows already. Pure. */
import { asArray, asRecord, asString, joinText, tryParseJson } from "../../json.ts";

type Fields = Record<string, unknown>;

/** The last exchange on a connection. */
export interface Exchange {
  /** The whole payload, also if only a part of its input was sent. */
  readonly payload: Fields;
  readonly responseId: string;
  /** The items that the server answered with. */
  readonly output: readonly Fields[];
}

/**
 * The payload that continues after `last`: its id, and only the input that is new. Undefined if anything else of the payload
 * differs, or if the history is not the one of that exchange.
 */
export function continueFrom(last: Exchange, payload: Fields): Fields | undefined {
  const input = asArray(payload["input"]);
  const known = asArray(last.payload["input"]);
  if (JSON.stringify(withoutInput(payload)) !== JSON.stringify(withoutInput(last.payload))) return undefined;
  if (input.length < known.length + last.output.length) return undefined;
  if (!known.every((item, index) => JSON.stringify(item) === JSON.stringify(input[index]))) return undefined;
  const isSame = last.output.every((item, index) => isSameItem(item, asRecord(input[known.length + index])));
  if (!isSame) return undefined;
  const added = input.slice(known.length + last.output.length);
  return added.length === 0 ? undefined : { ...payload, previous_response_id: last.responseId, input: added };
}

const withoutInput = ({ input: _input, ...rest }: Fields) => rest;

/** Whether an item of the history is the one that the server sent. It may be written in another way. */
function isSameItem(sent: Fields, stored: Fields): boolean {
  const type = asString(sent["type"]);
  if (asString(sent["id"]) === "" || sent["id"] !== stored["id"] || type !== stored["type"]) return false;
  switch (type) {
    case "reasoning":
      return true;
    case "message":
      return joinContent(sent) === joinContent(stored);
    case "function_call":
      return (
        sent["call_id"] === stored["call_id"] &&
        sent["name"] === stored["name"] &&
        normalise(sent["arguments"]) === normalise(stored["arguments"])
      );
    default:
      return false;
  }
}

const joinContent = ({ content }: Fields) => joinText(content, "");

const normalise = (json: unknown) => JSON.stringify(tryParseJson(asString(json)) ?? json);

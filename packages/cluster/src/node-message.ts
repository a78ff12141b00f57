/** Messages between nodes, and their checks: another node may have another version. Pure. */
import {
  type Fields,
  flag,
  list,
  nonEmptyText,
  object,
  oneOf,
  optional,
  parseFields,
  text,
  wholeNumber,
} from "@tau/config/fields";
import { asRecord, tryParseJson } from "@tau/ai/internal";
import { type GatewayFault, type GatewayScope, gatewayScopes } from "@tau/protocol/gateway";
import type { ClientAbilities } from "@tau/gateway/port";

/** A client of another node. */
export interface ClientData {
  connectionId: string;
  deviceId: string;
  scopes: GatewayScope[];
  abilities: ClientAbilities;
}

/** Some have content besides. */
export type NodeMessage =
  /** A request of a client. The content is its parameters. */
  | { kind: "call"; callId: string; client: ClientData; method: string; requestId: string; requestKey?: string }
  /** The content is the payload. */
  | { kind: "answer"; callId: string }
  | { kind: "fault"; callId: string; fault: GatewayFault }
  /** The content is a frame for a client. */
  | { kind: "frame"; connectionId: string }
  /** How many bytes of frames a client has taken so far. */
  | { kind: "taken"; connectionId: string; bytes: number }
  | { kind: "abilities"; connectionId: string; abilities: ClientAbilities }
  | { kind: "close"; connectionId: string; code: number; reason: string }
  /** A client has left. */
  | { kind: "gone"; connectionId: string };

export type ParsedMessage =
  | { kind: "parsed"; message: NodeMessage }
  /** `problem` is a sentence. `callId`: what it is a call or an answer of, as far as that can be read. */
  | { kind: "wrong"; problem: string; isCall: boolean; callId: string | undefined };

const abilities = object({ approvals: flag, ui: flag });
const client = object({
  connectionId: nonEmptyText,
  deviceId: nonEmptyText,
  scopes: list(oneOf(...gatewayScopes)),
  abilities,
});
const fault = object({
  code: nonEmptyText,
  message: text,
  retryable: flag,
  retryAfterMs: optional(wholeNumber({ min: 0, unit: "milliseconds" })),
});

/** Fields of each kind, besides the kind. */
const fieldsByKind: Readonly<Record<NodeMessage["kind"], Fields>> = {
  call: { callId: nonEmptyText, client, method: nonEmptyText, requestId: text, requestKey: optional(nonEmptyText) },
  answer: { callId: nonEmptyText },
  fault: { callId: nonEmptyText, fault },
  frame: { connectionId: nonEmptyText },
  taken: { connectionId: nonEmptyText, bytes: wholeNumber({ min: 0, unit: "bytes" }) },
  abilities: { connectionId: nonEmptyText, abilities },
  close: { connectionId: nonEmptyText, code: wholeNumber({ min: 0, unit: "codes" }), reason: text },
  gone: { connectionId: nonEmptyText },
};
const kinds = Object.keys(fieldsByKind) as NodeMessage["kind"][];
const kind = oneOf(...kinds);

export function parseNodeMessage(json: string): ParsedMessage {
  const value = tryParseJson(json);
  const { kind: name, callId } = asRecord(value);
  const known = kinds.find((each) => each === name);
  const parsed = parseFields({ kind, ...(known && fieldsByKind[known]) }, value, { isClosed: true });
  if (parsed.kind === "parsed") return { kind: "parsed", message: parsed.values as NodeMessage };
  return {
    kind: "wrong",
    problem: parsed.message,
    isCall: name === "call",
    callId: typeof callId === "string" ? callId : undefined,
  };
}

/** The frames that a client sends, and the parameters of the first one. Pure. */
import {
  flag,
  jsonObject,
  list,
  nonEmptyText,
  object,
  oneOf,
  optional,
  parseFields,
  text,
  wholeNumber,
} from "@tau/config/fields";
import { type ConnectParams, gatewayProtocol, gatewayScopes, type RequestFrame } from "@tau/protocol/gateway";
import { tryParseJson } from "@tau/ai/internal";
import { GatewayError } from "../errors.ts";
import { mustParse } from "../must-parse.ts";
import { isTooDeep } from "./json-depth.ts";

const frameFields = {
  type: oneOf("req"),
  id: nonEmptyText,
  method: nonEmptyText,
  params: optional(jsonObject),
};

const connectFields = {
  minProtocol: wholeNumber({ min: 1, unit: "versions" }),
  maxProtocol: wholeNumber({ min: 1, unit: "versions" }),
  client: object({ name: nonEmptyText, version: nonEmptyText }),
  deviceId: nonEmptyText,
  proof: text,
  scopes: optional(list(oneOf(...gatewayScopes))),
  abilities: optional(object({ approvals: optional(flag), ui: optional(flag) })),
};

/** Ids are repeated in the answer, so a long one would be a way to make it large. */
const maxIdLength = 128;

/** Undefined for what is not a frame of the protocol. */
export function parseFrame(message: string): RequestFrame | undefined {
  if (isTooDeep(message)) return undefined;
  const parsed = parseFields(frameFields, tryParseJson(message), { isClosed: true });
  if (parsed.kind === "wrong" || parsed.values.id.length > maxIdLength) return undefined;
  return parsed.values as RequestFrame;
}

/** Throws `invalid_parameters`, and `unsupported_protocol` with what this gateway speaks. */
export function parseConnect(params: unknown): ConnectParams {
  const values = mustParse(connectFields, params);
  const { minProtocol, maxProtocol } = values;
  if (minProtocol > gatewayProtocol || maxProtocol < gatewayProtocol) {
    const offered = minProtocol === maxProtocol ? `${minProtocol}` : `${minProtocol} to ${maxProtocol}`;
    const message = `This gateway speaks version ${gatewayProtocol} of the protocol, and the client ${offered}.`;
    throw new GatewayError("unsupported_protocol", message);
  }
  return values as ConnectParams;
}

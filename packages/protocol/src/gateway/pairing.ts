/**
 * How a device without a token gets one. It asks with `POST /pair/request` and shows the code; a person types that code
 * where they are known already (`tau gateway pair CODE`); meanwhile the device asks with `POST /pair/claim`.
 */
import type { GatewayScope } from "./methods.ts";

export interface PairRequestParams {
  /** For people who look at the list of devices. */
  name: string;
}

export interface PairRequestData {
  requestId: string;
  /** Eight characters. Upper and lower case, blanks and hyphens make no difference when it is typed. */
  code: string;
  /** Shows that a claim comes from who made the request. It is never shown to a person. */
  secret: string;
  /** After which the request is forgotten. */
  expiresInMs: number;
}

export interface PairClaimParams {
  requestId: string;
  secret: string;
}

/** With the status 202 while nobody has typed the code, and with 200 once. Afterwards, and when it has expired: 404. */
export type PairClaimData =
  | { state: "pending" }
  | { state: "paired"; deviceId: string; token: string; scopes: GatewayScope[] };

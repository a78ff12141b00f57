/** What a method is: the fields that it takes, and what it does. */
import type { GatewayMethod, MethodData, MethodParams } from "@tau/protocol/gateway";
import type { Fields, FieldValues } from "@tau/config/fields";
import type { Client } from "../client.ts";
import type { GatewayParts } from "../parts.ts";

export interface MethodContext {
  client: Client;
  /** The id of the request's frame. */
  requestId: string;
  /** Names the request among those of all devices; undefined for one without an idempotency key. */
  requestKey?: string;
  /** Does something when the response was sent, such as sending the frames that it announces. Default: at once. */
  afterResponse?: (act: () => void) => void;
  parts: GatewayParts;
}

/** Without `connect`, which only the connection answers, and the commands of sessions, which share one definition. */
export type OwnMethod = Exclude<GatewayMethod, "connect" | `session.${string}`>;

export interface MethodDefinition<Name extends OwnMethod = OwnMethod> {
  fields: Fields;
  run(context: MethodContext, params: MethodParams<Name>): MethodData<Name> | Promise<MethodData<Name>>;
}

export type MethodDefinitions = { readonly [Name in OwnMethod]: MethodDefinition<Name> };

/** The definitions of some methods; `index.ts` has all of them. */
export type SomeMethods = Partial<MethodDefinitions>;

export const method = <F extends Fields, Data>(
  fields: F,
  run: (context: MethodContext, params: FieldValues<F>) => Data,
) => ({ fields, run });

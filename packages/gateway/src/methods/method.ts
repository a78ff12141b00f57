/** The definition of a method: which nodes of a cluster run it, the fields that it takes, and what it does. */
import type { GatewayMethod, MethodData, MethodParams } from "@tau/protocol/gateway";
import type { Fields, FieldValues } from "@tau/config/fields";
import type { GatewayParts } from "../parts.ts";
import type { MethodRoute } from "../port/method-route.ts";
import type { RequestContext } from "../request-context.ts";

export interface MethodContext extends RequestContext {
  parts: GatewayParts;
}

/** Without `connect`, which only the connection answers, and the commands of sessions, which share one definition. */
export type OwnMethod = Exclude<GatewayMethod, "connect" | `session.${string}`>;

interface MethodDefinition<Name extends OwnMethod = OwnMethod> {
  route: MethodRoute;
  fields: Fields;
  run(context: MethodContext, params: MethodParams<Name>): MethodData<Name> | Promise<MethodData<Name>>;
}

export type MethodDefinitions = { readonly [Name in OwnMethod]: MethodDefinition<Name> };

/** The definitions of some methods; `index.ts` has all of them. */
export type SomeMethods = Partial<MethodDefinitions>;

/** Routes of methods that any node can answer, and of those that need the session `sessionId`. */
export const here: MethodRoute = { kind: "here" };
export const atSession: MethodRoute = { kind: "session" };

export const method = <F extends Fields, Data>(
  route: MethodRoute,
  fields: F,
  run: (context: MethodContext, params: FieldValues<F>) => Data,
) => ({ route, fields, run });

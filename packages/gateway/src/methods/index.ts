/** Every method, and the one way in which a request becomes a call of one. */
import { parseFields } from "@tau/harness/fields";
import { isCommandName } from "@tau/protocol";
import { isGatewayMethod, methodScopes, type RequestFrame } from "@tau/protocol/gateway";
import { GatewayError } from "../errors.ts";
import { approvalMethods } from "./approvals.ts";
import { configMethods } from "./config.ts";
import { devicesMethods } from "./devices.ts";
import { healthMethods } from "./health.ts";
import { interruptMethods } from "./interrupt.ts";
import type { MethodContext, MethodDefinitions, OwnMethod, SomeMethods } from "./method.ts";
import { modelMethods } from "./models.ts";
import { runCommand } from "./session.ts";
import { sessionsMethods } from "./sessions.ts";
import { usageMethods } from "./usage.ts";

/** A method without a definition, or without a scope, does not compile. */
const methodTable: Omit<MethodDefinitions, `inbox.${string}`> & SomeMethods = {
  ...healthMethods,
  ...sessionsMethods,
  ...approvalMethods,
  ...modelMethods,
  ...usageMethods,
  ...configMethods,
  ...interruptMethods,
  ...devicesMethods,
};

/** Throws for a method that does not exist, that the client may not call, or whose parameters are wrong. */
export async function callMethod(context: MethodContext, { method, params = {} }: RequestFrame): Promise<unknown> {
  if (!isGatewayMethod(method) || method === "connect") {
    throw new GatewayError("unknown_method", `There is no method ${JSON.stringify(method.slice(0, 80))}.`);
  }
  const scope = methodScopes[method];
  if (scope === "none" || !context.client.scopes.has(scope)) {
    throw new GatewayError("forbidden", `${method} needs the scope ${scope}, which this device does not have.`);
  }
  const { idempotencyKey, ...fields } = params;
  if (idempotencyKey !== undefined && (typeof idempotencyKey !== "string" || idempotencyKey === "")) {
    throw new GatewayError("invalid_parameters", "idempotencyKey has to be a text that is not empty.");
  }
  const command = method.startsWith("session.") ? method.slice("session.".length) : undefined;
  if (command !== undefined && isCommandName(command)) return await runCommand(context, command, fields);
  const definition = methodTable[method as OwnMethod];
  if (!definition) throw new GatewayError("unknown_method", `${method} is not there yet.`);
  const parsed = parseFields(definition.fields, fields, { isClosed: true });
  if (parsed.kind === "wrong") throw new GatewayError("invalid_parameters", parsed.message);
  return await definition.run(context, parsed.values as never);
}

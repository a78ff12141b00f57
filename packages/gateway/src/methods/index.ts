/** Every method, and the one way in which a request becomes a call of one. */
import { type CommandName, isCommandName } from "@tau/protocol";
import { type GatewayMethod, isGatewayMethod, methodScopes, type RequestFrame } from "@tau/protocol/gateway";
import { GatewayError } from "../errors.ts";
import { callOnce } from "../idempotency/call-once.ts";
import { mustParse } from "../must-parse.ts";
import type { MethodRoute } from "../port/method-route.ts";
import { approvalMethods } from "./approvals.ts";
import { channelMethods } from "./channels.ts";
import { configMethods } from "./config.ts";
import { devicesMethods } from "./devices.ts";
import { dialogMethods } from "./dialogs.ts";
import { healthMethods } from "./health.ts";
import { inboxMethods } from "./inbox.ts";
import { interruptMethods } from "./interrupt.ts";
import type { MethodContext, MethodDefinitions, OwnMethod } from "./method.ts";
import { modelMethods } from "./models.ts";
import { getCommandRoute, runCommand } from "./session.ts";
import { scheduleMethods } from "./schedules.ts";
import { sessionsMethods } from "./sessions.ts";
import { sharesMethods } from "./shares.ts";
import { usageMethods } from "./usage.ts";

/** A method without a definition, or without a scope, does not compile. */
const methodTable: MethodDefinitions = {
  ...healthMethods,
  ...sessionsMethods,
  ...approvalMethods,
  ...dialogMethods,
  ...modelMethods,
  ...usageMethods,
  ...configMethods,
  ...interruptMethods,
  ...devicesMethods,
  ...inboxMethods,
  ...channelMethods,
  ...scheduleMethods,
  ...sharesMethods,
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
  return await callOnce(context, method, params, async (fields, key) => {
    const own = key === undefined ? context : { ...context, requestKey: key };
    const here = () => run(own, method, fields);
    const { cluster } = context.parts;
    return cluster ? await cluster.call(own, { method, params: fields, route: getRoute(method) }, here) : await here();
  });
}

/** Methods but `connect`, which only the connection answers. */
type RunnableMethod = Exclude<GatewayMethod, "connect">;

async function run(context: MethodContext, method: RunnableMethod, fields: Record<string, unknown>): Promise<unknown> {
  const command = findCommand(method);
  if (command !== undefined) return await runCommand(context, command, fields);
  const definition = methodTable[method as OwnMethod];
  return await definition.run(context, mustParse(definition.fields, fields) as never);
}

/** Says which nodes of a cluster run a method. */
export function getRoute(method: RunnableMethod): MethodRoute {
  const command = findCommand(method);
  return command === undefined ? methodTable[method as OwnMethod].route : getCommandRoute(command);
}

/** The command of a session that a method is; undefined for the gateway's own methods. */
function findCommand(method: RunnableMethod): CommandName | undefined {
  const command = method.startsWith("session.") ? method.slice("session.".length) : undefined;
  return command !== undefined && isCommandName(command) ? command : undefined;
}

/** Requests from commands to the account's running gateway. */
import { askControl, type ControlAnswer, isGatewayError } from "@tau/gateway";
import type { GatewayMethod, MethodData } from "@tau/protocol/gateway";
import { findGateway, getGatewayFiles } from "@tau/protocol/node";
import { getAgentDir } from "../hosting/agent-dir.ts";
import type { Io } from "../commands/command.ts";
import { HarnessError } from "@tau/protocol";

/** Undefined if none runs. */
export async function askGateway(io: Io, request: Record<string, unknown>): Promise<ControlAnswer | undefined> {
  const agentDir = getAgentDir(io);
  try {
    return await askControl(getGatewayFiles(agentDir).control, request);
  } catch (error) {
    if (!isGatewayError(error) || error.code !== "unresponsive") throw error;
    const gateway = await findGateway(agentDir);
    throw new HarnessError(
      "unavailable",
      `${error.message}${gateway ? ` If it stays so, end it: kill -9 ${gateway.pid}` : ""}`,
      {
        cause: error,
      },
    );
  }
}

/** The data of a method; undefined if no gateway runs. */
export async function callGateway(io: Io, method: string, params: Record<string, unknown> = {}): Promise<unknown> {
  const answer = await askGateway(io, { command: "call", method, params });
  answer?.close();
  return answer?.data;
}

export const notRunning = "No gateway of yours is running. Start one with: tau gateway";

/** The data of a method. Throws a `HarnessError` if no gateway runs. */
export async function callRunningGateway<Name extends GatewayMethod>(
  io: Io,
  method: Name,
  params: Record<string, unknown> = {},
): Promise<MethodData<Name>> {
  const data = await callGateway(io, method, params);
  if (data === undefined) throw new HarnessError("unavailable", notRunning);
  return data as MethodData<Name>;
}

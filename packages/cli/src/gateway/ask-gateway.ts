/** What commands ask of the account's running gateway. */
import { askControl, type ControlAnswer } from "@tau/gateway";
import { getGatewayFiles } from "@tau/protocol/node";
import { getAgentDir } from "../agent-dir.ts";
import type { Io } from "../command.ts";

/** Undefined if none runs. */
export const askGateway = (io: Io, request: Record<string, unknown>): Promise<ControlAnswer | undefined> =>
  askControl(getGatewayFiles(getAgentDir(io)).control, request);

/** The data of a method; undefined if no gateway runs. */
export async function callGateway(io: Io, method: string, params: Record<string, unknown> = {}): Promise<unknown> {
  const answer = await askGateway(io, { command: "call", method, params });
  answer?.close();
  return answer?.data;
}

export const notRunning = "No gateway of yours is running. Start one with: tau gateway";

/** `tau gateway status`, `reload` and `stop`. */
import type { GatewayStatus } from "@tau/gateway";
import type { MethodData } from "@tau/protocol/gateway";
import type { Io } from "./command.ts";
import { type ExitCode, exitCodes } from "../process/exit-codes.ts";
import { askGateway, callGateway, notRunning } from "../gateway/ask-gateway.ts";
import { jsonLine } from "../modes/json-line.ts";
import { cleanLine } from "../process/table.ts";
import type { CommandArgs } from "./usage.ts";
import { HarnessError } from "@tau/protocol";

export async function showStatus(args: CommandArgs, io: Io): Promise<ExitCode | void> {
  const answer = await askGateway(io, { command: "status" });
  answer?.close();
  const status = answer?.data as GatewayStatus | undefined;
  if (args.has("json")) io.out(jsonLine(status ? { running: true, ...status } : { running: false }));
  else io.out(status ? formatStatus(status) : `${notRunning}\n`);
  return status ? exitCodes.done : exitCodes.failed;
}

function formatStatus(status: GatewayStatus): string {
  const { pid, url, version, uptimeMs, connections, openSessions, runningSessions } = status;
  const count = (number: number, one: string) => `${number} ${one}${number === 1 ? "" : "s"}`;
  return [
    `The gateway ${version} runs as process ${pid} for ${formatTime(uptimeMs)}.`,
    `Address: ${url.replace(/^ws/, "http")}`,
    `${count(connections, "connection")}, ${count(openSessions, "open session")}, ${runningSessions} of them running.`,
    "",
  ].join("\n");
}

function formatTime(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return `${Math.floor(ms / 1_000)} s`;
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export async function reloadGateway(_args: CommandArgs, io: Io): Promise<ExitCode | void> {
  const answer = (await callGateway(io, "gateway.reload")) as MethodData<"gateway.reload"> | undefined;
  if (!answer) throw new HarnessError("unavailable", notRunning);
  const { changed, problems, needsRestart } = answer;
  for (const problem of problems) io.err(`tau: ${cleanLine(problem)}\n`);
  io.out(changed.length > 0 ? `New: ${changed.join(", ")}\n` : "Nothing has changed.\n");
  if (needsRestart.length > 0) io.out(`Changed, but only in effect after a restart: ${needsRestart.join(", ")}\n`);
  return problems.length > 0 ? exitCodes.failed : exitCodes.done;
}

export async function stopGateway(args: CommandArgs, io: Io): Promise<ExitCode | void> {
  const answer = await askGateway(io, { command: "stop" });
  if (!answer) {
    io.err(`${notRunning}\n`);
    return exitCodes.failed;
  }
  if (args.has("now")) (await askGateway(io, { command: "stop" }))?.close();
  await answer.ended;
  io.out("The gateway has stopped.\n");
}

/** `tau gateway token`, `devices`, `pair` and `revoke`: who may connect. */
import { systemClock, systemIds } from "@tau/ai";
import { type Devices, openDevices } from "@tau/gateway";
import { type DeviceData, type GatewayScope, gatewayScopes } from "@tau/protocol/gateway";
import { ownDeviceId } from "@tau/protocol/node";
import { getAgentDir } from "../hosting/agent-dir.ts";
import type { Io } from "./command.ts";
import { UsageError } from "../process/errors.ts";
import { callGateway, notRunning } from "../gateway/ask-gateway.ts";
import { jsonLine } from "../modes/json-line.ts";
import { cleanLine, tableText } from "../process/table.ts";
import type { CommandArgs } from "./usage.ts";
import { HarnessError } from "@tau/protocol";

export async function printToken(_args: CommandArgs, io: Io): Promise<void> {
  io.out(`${(await openFile(io)).getOwnToken()!}\n`);
}

export async function listDevices(args: CommandArgs, io: Io): Promise<void> {
  const answer = (await callGateway(io, "devices.list")) as { devices: DeviceData[] } | undefined;
  const devices = answer?.devices ?? (await openFile(io)).list();
  if (args.has("json")) return io.out(devices.map((device) => jsonLine(device)).join(""));
  const columns = ["DEVICE", "NAME", "SCOPES", "SINCE", "LAST SEEN"].map((title) => ({ title }));
  io.out(tableText(columns, devices.map(toRow), io));
}

function toRow({ id, name, scopes, state, createdAt, lastSeenAt }: DeviceData): string[] {
  return [id, name, state === "pending" ? "asks to be paired" : scopes.join(" "), createdAt, lastSeenAt ?? ""];
}

export async function pair(args: CommandArgs, io: Io): Promise<void> {
  const [code] = args.positionals;
  const name = args.value("name");
  const scopes = parseScopes(args.value("scopes"));
  const params = { code, ...(name !== undefined && { name }), ...(scopes && { scopes }) };
  const device = (await callGateway(io, "devices.approve", params)) as DeviceData | undefined;
  if (!device) throw new HarnessError("unavailable", notRunning);
  const { id, name: shown, scopes: granted } = device;
  io.out(
    `${cleanLine(shown)} may connect now, with the scopes ${granted.join(", ")}. To end that: tau gateway revoke ${id}\n`,
  );
}

function parseScopes(list: string | undefined): GatewayScope[] | undefined {
  const names = list?.split(",").map((name) => name.trim());
  const wrong = names?.find((name) => !gatewayScopes.some((scope) => scope === name));
  if (wrong === undefined) return names as GatewayScope[] | undefined;
  throw new UsageError(
    "arguments",
    `There is no scope ${JSON.stringify(wrong)}; there are ${gatewayScopes.join(", ")}.`,
  );
}

export async function revoke(args: CommandArgs, io: Io): Promise<void> {
  const [id = ""] = args.positionals;
  const answer = await callGateway(io, "devices.revoke", { deviceId: id });
  if (answer === undefined && !(await (await openFile(io)).revoke(id))) {
    throw new UsageError("arguments", `There is no device ${JSON.stringify(id)}. tau gateway devices lists them.`);
  }
  const isOwn = id === ownDeviceId;
  io.out(
    isOwn ? "Your account has a new token; the old one is no longer valid.\n" : `${id} may not connect any more.\n`,
  );
}

/** The file itself, where no gateway runs that could be asked. */
const openFile = (io: Io): Promise<Devices> =>
  openDevices({
    agentDir: getAgentDir(io),
    clock: systemClock,
    ids: systemIds,
    log: (line) => io.err(`tau: ${line}\n`),
  });

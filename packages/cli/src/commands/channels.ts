/** `tau channels`: accounts on platforms where people talk to agents, and the people who may. */
import { getSecretName, ownChannelTypes } from "@tau/gateway";
import { literalKey, parseTypedKey } from "@tau/config/auth";
import type { SettingsManager } from "@tau/config/settings";
import type { ExtensionProblem } from "@tau/extensions";
import { HarnessError } from "@tau/protocol";
import type { ChannelData, ChannelPeerData } from "@tau/protocol/gateway";
import { callRunningGateway } from "../gateway/ask-gateway.ts";
import { getAgentDir } from "../hosting/agent-dir.ts";
import { jsonLine } from "../modes/json-line.ts";
import { readInput } from "../modes/read-input.ts";
import { ask, isInteractive } from "../process/ask.ts";
import { UsageError } from "../process/errors.ts";
import { type ExitCode, exitCodes } from "../process/exit-codes.ts";
import { cleanLine, tableText } from "../process/table.ts";
import { openAccess } from "./access.ts";
import type { Io } from "./command.ts";
import type { CommandArgs } from "./usage.ts";

export async function listChannels(args: CommandArgs, io: Io): Promise<void> {
  const { channels } = await callRunningGateway(io, "channels.list");
  if (args.has("json")) return io.out(channels.map((channel) => jsonLine(channel)).join(""));
  if (channels.length === 0) return io.out("No channel is configured. tau help channels says how.\n");
  const columns = ["NAME", "TYPE", "STATE", "LAST MESSAGE", "WAITING", "UNDELIVERED"].map((title) => ({ title }));
  io.out(tableText(columns, channels.map(toChannelRow), io));
}

const toChannelRow = ({ name, type, state, reason, lastMessageAt, waiting, undelivered }: ChannelData): string[] => [
  name,
  type,
  reason === undefined ? state : `${state}: ${cleanLine(reason)}`,
  lastMessageAt ?? "",
  String(waiting),
  String(undelivered),
];

export async function testChannel(args: CommandArgs, io: Io): Promise<ExitCode | void> {
  const [channel = ""] = args.positionals;
  const { sent, to = "", reason = "" } = await callRunningGateway(io, "channels.test", { channel });
  if (sent) return io.out(`A test was sent to ${cleanLine(to)}.\n`);
  io.err(`tau channels: nothing was sent. ${cleanLine(reason)}\n`);
  return exitCodes.failed;
}

export async function listPeers(args: CommandArgs, io: Io): Promise<void> {
  const { peers } = await callRunningGateway(io, "channels.peers");
  if (args.has("json")) return io.out(peers.map((peer) => jsonLine(peer)).join(""));
  const columns = ["CHANNEL", "ID", "NAME", "STATE", "SINCE"].map((title) => ({ title }));
  io.out(tableText(columns, peers.map(toPeerRow), io));
}

const toPeerRow = ({ channel, id, name, state, since }: ChannelPeerData): string[] => [
  channel,
  cleanLine(id),
  cleanLine(name),
  state === "pending" ? "has a code" : state,
  since,
];

export async function pairPeer(args: CommandArgs, io: Io): Promise<void> {
  const { channel, id, name } = await callRunningGateway(io, "channels.pair", { code: args.positionals[0] });
  const shown = `${cleanLine(name)} (${cleanLine(id)})`;
  io.out(`${shown} may write to ${channel} now. To end that: tau channels unpair ${channel} ${cleanLine(id)}\n`);
}

export async function unpairPeer(args: CommandArgs, io: Io): Promise<void> {
  const [channel, id = ""] = args.positionals;
  await callRunningGateway(io, "channels.unpair", { channel, id });
  io.out(`${cleanLine(id)} may not write to ${channel} any more.\n`);
}

export async function showOutbox(args: CommandArgs, io: Io): Promise<void> {
  const [channel] = args.positionals;
  const { replies } = await callRunningGateway(io, "channels.outbox", channel === undefined ? {} : { channel });
  if (args.has("json")) return io.out(replies.map((reply) => jsonLine(reply)).join(""));
  if (replies.length === 0) return io.out("Everything is delivered.\n");
  const columns = ["ID", "CHANNEL", "TO", "STATE", "SINCE"].map((title) => ({ title }));
  const rows = replies.map(({ id, channel: name, to, state, reason, text, recordedAt }) => [
    id,
    name,
    cleanLine(to),
    reason === undefined ? state : `${state}: ${cleanLine(reason)}`,
    recordedAt,
    cleanLine(text),
  ]);
  io.out(tableText([...columns, { title: "TEXT", shrinks: true }], rows, io));
}

export async function resendReply(args: CommandArgs, io: Io): Promise<void> {
  await callRunningGateway(io, "channels.resend", { id: args.positionals[0] });
  io.out("It is sent again.\n");
}

export async function dropReply(args: CommandArgs, io: Io): Promise<void> {
  await callRunningGateway(io, "channels.drop", { id: args.positionals[0] });
  io.out("It is forgotten.\n");
}

/** Stores the secrets of an account where keys of providers are, one after the other. */
export async function logInChannel(args: CommandArgs, io: Io): Promise<void> {
  const [name = ""] = args.positionals;
  const access = await openAccess(io);
  access.registry.close();
  access.settings.mustBeWhole();
  const { type } = access.settings.get().gateway.channels[name] ?? {};
  if (type === undefined) {
    throw new UsageError("not_found", `The setting gateway.channels.${name}.type does not name a platform yet.`);
  }
  const wanted = Object.entries(await findSecrets(type, access.settings, io));
  if (wanted.length === 0) return io.out(`A channel of the type ${type} needs no secret.\n`);
  const lines = isInteractive(io) ? undefined : ((await readInput(io)) ?? "").split("\n");
  for (const [secret, description] of wanted) {
    const input = lines ? (lines.shift() ?? "") : await ask(io, `${description} (not shown): `, { hidden: true });
    if (input === undefined) throw new HarnessError("aborted", "No secret was typed.");
    const typed = parseTypedKey(input);
    if (typed.kind === "wrong") {
      const advice = `Type it, or send ${wanted.length === 1 ? "it" : "all, one a line,"} to standard input.`;
      throw new UsageError("arguments", `${description}: ${typed.message} ${advice}`);
    }
    await access.auth.set(getSecretName(name, secret), { type: "api_key", key: literalKey(typed.key) });
  }
  io.out(`The secrets of ${name} are stored. A gateway that runs takes them with: tau gateway reload\n`);
}

/** The secrets of a type of channels: one of tau, or one that an extension of the user brings. */
async function findSecrets(type: string, settings: SettingsManager, io: Io): Promise<Readonly<Record<string, string>>> {
  if (Object.hasOwn(ownChannelTypes, type)) return (await ownChannelTypes[type]!()).secrets;
  const [{ loadChannelType }, { loadSharedModule }] = await Promise.all([
    import("@tau/extensions"),
    import("../hosting/shared-modules.ts"),
  ]);
  const agentDir = getAgentDir(io);
  const report = ({ extension, message }: ExtensionProblem) => io.err(`tau: ${extension}: ${message}\n`);
  const place = { cwd: agentDir, agentDir, settings, report };
  const loaded = await loadChannelType(type, { discovers: true, loadShared: loadSharedModule }, place);
  await loaded?.close();
  if (loaded) return loaded.type.secrets;
  throw new UsageError("not_found", `There is no channel of the type ${type}.`);
}

export async function showChannelLogs(args: CommandArgs, io: Io): Promise<void> {
  const [name = ""] = args.positionals;
  const { lines } = await callRunningGateway(io, "logs.tail", { limit: 1_000, channel: name });
  io.out(lines.map((line) => `${cleanLine(line)}\n`).join(""));
}

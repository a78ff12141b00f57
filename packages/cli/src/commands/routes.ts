/** `tau routes`: which agent answers which messages of channels. */
import { peerKinds, resolveRoute, type RouteBinding, type RouteFacts } from "@tau/gateway";
import { openSettings } from "../hosting/open-settings.ts";
import { getAgentDir } from "../hosting/agent-dir.ts";
import { jsonLine } from "../modes/json-line.ts";
import { UsageError } from "../process/errors.ts";
import { tableText } from "../process/table.ts";
import type { Io } from "./command.ts";
import type { CommandArgs } from "./usage.ts";

export async function listRoutes(args: CommandArgs, io: Io): Promise<void> {
  const { bindings, defaultAgent } = await readSettings(io);
  if (args.has("json")) return io.out(bindings.map((binding) => jsonLine(binding)).join(""));
  const rows = bindings.map(({ agent, match }, index) => [String(index + 1), agent, formatMatch(match)]);
  const others = ["", defaultAgent ?? "the agent without a name", "everything else"];
  io.out(tableText([{ title: "" }, { title: "AGENT" }, { title: "ANSWERS", shrinks: true }], [...rows, others], io));
}

/** Which agent would answer a message, and because of which binding. */
export async function explainRoute(args: CommandArgs, io: Io): Promise<void> {
  const { bindings, defaultAgent } = await readSettings(io);
  const facts = parseFacts(args);
  const route = resolveRoute(facts, bindings, defaultAgent);
  if (args.has("json")) return io.out(jsonLine(route));
  const agent = route.agent ?? "the agent without a name";
  const binding = route.index === undefined ? undefined : bindings[route.index];
  const reason = binding ? `number ${route.index! + 1}, ${formatMatch(binding.match)}` : "no binding fits";
  io.out(`${agent} answers (${route.matchedBy}: ${reason}).\n`);
}

async function readSettings(io: Io) {
  const settings = await openSettings({ cwd: io.cwd, agentDir: getAgentDir(io) });
  await settings.close();
  return settings.get().gateway;
}

const formatMatch = ({ channel, accountId, peer, guildId, roles, teamId }: RouteBinding["match"]): string =>
  [
    channel,
    ...(accountId === undefined ? [] : [`account ${accountId}`]),
    ...(peer ? [`${peer.kind} ${peer.id}`] : []),
    ...(guildId === undefined ? [] : [`guild ${guildId}`]),
    ...(roles && roles.length > 0 ? [`role ${roles.join(" or ")}`] : []),
    ...(teamId === undefined ? [] : [`team ${teamId}`]),
  ].join(", ");

function parseFacts(args: CommandArgs): RouteFacts {
  const [channel = ""] = args.positionals;
  const parent = args.value("parent");
  const [guildId, roles, teamId] = [args.value("guild"), args.value("roles"), args.value("team")];
  return {
    channel,
    accountId: args.value("account") ?? "",
    peer: parsePeer(args.value("peer") ?? "direct:"),
    ...(parent !== undefined && { parentPeer: parsePeer(parent) }),
    ...(guildId !== undefined && { guildId }),
    ...(roles !== undefined && { roles: roles.split(",") }),
    ...(teamId !== undefined && { teamId }),
  };
}

function parsePeer(text: string): RouteFacts["peer"] {
  const [, kind, id = ""] = /^(\w+):(.*)$/.exec(text) ?? [];
  const known = peerKinds.find((each) => each === kind);
  if (known) return { kind: known, id };
  throw new UsageError(
    "arguments",
    `${text} is not a kind and an id, such as direct:4711; kinds are ${peerKinds.join(", ")}.`,
  );
}

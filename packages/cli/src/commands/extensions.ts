import { systemIds } from "@tau/ai";
import { didYouMean } from "@tau/ai/internal";
import { findExtensions, type FoundExtension } from "@tau/extensions";
import {
  type ExtensionTrustState,
  getRuns,
  listExtensionRuns,
  runsToCandidate,
  type TrustChange,
  writeExtensionTrust,
} from "@tau/config/trust";
import { openSettings } from "../hosting/open-settings.ts";
import { getAgentDir } from "../hosting/agent-dir.ts";
import type { Io } from "./command.ts";
import { jsonLine } from "../modes/json-line.ts";
import { type Colour, tableText } from "../process/table.ts";
import type { CommandArgs } from "./usage.ts";
import { UsageError } from "../process/errors.ts";

async function open(io: Io) {
  const { cwd } = io;
  const agentDir = getAgentDir(io);
  const settings = await openSettings({ cwd, agentDir, watch: false });
  const found = await findExtensions({ cwd, agentDir, settings, includesUntrusted: true });
  return { agentDir, settings, ...found };
}

const colours: Partial<Record<ExtensionTrustState, Colour>> = { pending: "yellow", killed: "red", trusted: "green" };

export async function list(args: CommandArgs, io: Io): Promise<void> {
  const { agentDir, extensions, problems } = await open(io);
  const counted = await listExtensionRuns({ agentDir });
  const rows = extensions.map(({ source, state }) => {
    const { id, name, origin, path } = source;
    const runs = getRuns(counted, source);
    // Those that run isolated may earn trust; only a person gives it.
    const isCandidate = state === "acknowledged" && runs >= runsToCandidate;
    return { name, state, origin, id, path, ...(state === "acknowledged" && { runs, isCandidate }) };
  });
  if (args.has("json")) return io.out(rows.map((row) => jsonLine(row)).join(""));
  for (const { extension, message } of problems) io.err(`tau: ${extension}: ${message}\n`);
  if (rows.length === 0) return io.out("There are no extensions.\n");
  const cells = rows.map(({ name, state, origin, path }) => {
    const colour = colours[state];
    return [name, colour ? { text: state, colour } : state, origin, path];
  });
  const columns = [{ title: "NAME" }, { title: "STATE" }, { title: "FROM" }, { title: "FILE", shrinks: true }] as const;
  io.out(tableText(columns, cells, io));
  for (const { name, runs, isCandidate } of rows)
    if (isCandidate) io.out(`${name} ran ${runs} times without a refusal. To trust it: tau extensions trust ${name}\n`);
}

/** Finds the extension by name, id or path. All extensions of a package share what the user decides about it. */
function findOne(extensions: readonly FoundExtension[], name: string): FoundExtension {
  const isNamed = ({ source }: FoundExtension) => [source.name, source.id, source.path].includes(name);
  const matches = extensions.filter(isNamed);
  if (new Set(matches.map(({ source }) => source.id)).size > 1) {
    const paths = matches.map(({ source }) => source.path).join(", ");
    throw new UsageError("invalid_input", `Several extensions are called ${name}. Name the file of one: ${paths}`);
  }
  if (matches[0]) return matches[0];
  const hint =
    didYouMean(
      name,
      extensions.map(({ source }) => source.name),
    ) || " tau extensions list shows all.";
  throw new UsageError("invalid_input", `There is no extension ${JSON.stringify(name)}.${hint}`);
}

async function change(
  args: CommandArgs,
  io: Io,
  decide: (found: FoundExtension, isProjectTrusted: boolean) => readonly TrustChange["to"][],
): Promise<void> {
  const [name = ""] = args.positionals;
  const { agentDir, settings, extensions } = await open(io);
  const found = findOne(extensions, name);
  for (const to of decide(found, settings.isProjectTrusted)) {
    const change = { to, operator: "person", reason: `tau extensions ${args.subcommand}` };
    await writeExtensionTrust(found.source, change, { agentDir, ids: systemIds });
  }
  const after = findOne((await open(io)).extensions, found.source.path);
  io.out(`${found.source.name} is ${after.state}${describe(after)}.\n`);
}

const describe = ({ state, source }: FoundExtension): string => {
  if (state === "killed") return `: it does not run until tau extensions revive ${source.name}`;
  if (state === "pending") return ": it does not run";
  return state === "trusted" ? ": it runs in process and can do whatever you can" : ": it runs isolated";
};

/** For the content that it has now. */
export const trust = (args: CommandArgs, io: Io): Promise<void> =>
  change(args, io, ({ source, state }, isProjectTrusted) => {
    if (source.origin === "project" && !isProjectTrusted) {
      throw new UsageError("invalid_input", "It is an extension of a project that you do not trust. First: tau trust");
    }
    if (state === "killed") {
      const advice = `To turn it on again, isolated: tau extensions revive ${source.name}`;
      throw new UsageError("invalid_input", `${source.name} is turned off. ${advice}`);
    }
    return state === "trusted" ? [] : ["acknowledged", "trusted"];
  });

export const kill = (args: CommandArgs, io: Io): Promise<void> => change(args, io, () => ["killed"]);

/** Back from killed, to be looked at like any other that was acknowledged. */
export const revive = (args: CommandArgs, io: Io): Promise<void> =>
  change(args, io, ({ state }) => (state === "killed" ? ["acknowledged"] : []));

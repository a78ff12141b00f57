import { findExtensions } from "@tau/extensions";
import {
  findPiPackages,
  getPackageEntries,
  inspectPackages,
  type ListedPlugin,
  resourceKinds,
} from "@tau/config/installs";
import type { Io } from "./command.ts";
import { jsonLine } from "../modes/json-line.ts";
import { tableText } from "../process/table.ts";
import { getHome, openPackageContext } from "./package-context.ts";
import type { CommandArgs } from "./usage.ts";

/** The packages of the settings, with what they bring. Contacts no server. */
export async function listPackages(args: CommandArgs, io: Io): Promise<void> {
  const context = await openPackageContext({ ...args, has: () => false }, io);
  const { cwd, agentDir, settings } = context;
  const entries = getPackageEntries(settings);
  const { packages, problems } = await inspectPackages({ cwd, agentDir, entries });
  const { extensions } = await findExtensions(context);
  const rows = packages.map(({ configured: { source, scope, entry }, resolved, resources, marketplace }) => ({
    id: source.id,
    source: entry.source,
    scope,
    version: resolved,
    state: extensions.find((extension) => extension.source.id === source.id)?.state,
    root: resources.root,
    ...Object.fromEntries(resourceKinds.map((kind) => [kind, resources[kind]])),
    servers: Object.keys(resources.servers),
    ...(marketplace && { marketplace: marketplace.name, plugins: marketplace.plugins.map(toListedRow) }),
  }));
  const waiting = await findPiPackages({ home: getHome(io), agentDir, entries: entries.user });
  if (args.has("json")) {
    const missing = problems.map(({ kind, source, scope, message }) => ({ source, scope, problem: kind, message }));
    return io.out([...rows, ...missing].map((row) => jsonLine(row)).join(""));
  }
  for (const { message } of problems) io.err(`tau: ${message}\n`);
  if (waiting.length > 0) {
    io.err(`pi has ${waiting.length} packages that tau does not use. To install them: tau install --from-pi\n`);
  }
  if (rows.length === 0) {
    return problems.length === 0
      ? io.out("No packages are installed. To install one: tau install npm:NAME\n")
      : undefined;
  }
  const cells = packages.map(({ resources, marketplace }, index) => {
    const { source, version = "", scope, state = "" } = rows[index]!;
    const brought = resourceKinds.filter((kind) => resources[kind].length > 0);
    const counts = brought.map((kind) => `${resources[kind].length} ${kind}`);
    const servers = Object.keys(resources.servers).length;
    if (servers > 0) counts.push(`${servers} servers`);
    if (marketplace) counts.push(`lists ${marketplace.plugins.length} plugins as @${marketplace.name}`);
    return [source, version.slice(0, 12), scope, state, counts.join(", ")];
  });
  const columns = [
    { title: "PACKAGE", shrinks: true },
    { title: "VERSION" },
    { title: "SCOPE" },
    { title: "STATE" },
    { title: "BRINGS" },
  ] as const;
  io.out(tableText(columns, cells, io));
}

const toListedRow = ({ name, description }: ListedPlugin) => ({ name, description });

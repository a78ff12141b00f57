/** Lists what a package brings, and asks whether it is used. */
import { HarnessError } from "@tau/protocol";
import {
  comparePackages,
  type FetchedPackage,
  type MarketplaceManifest,
  type NameChanges,
  type PluginLocation,
  resourceKinds,
} from "@tau/config/installs";
import { ask, isInteractive } from "../process/ask.ts";
import type { Io } from "./command.ts";
import { UsageError } from "../process/errors.ts";
import type { CommandArgs } from "./usage.ts";

/** Throws before anything is fetched if nobody could agree to it. */
export function mustBeAnswerable(args: CommandArgs, io: Io): void {
  if (args.has("yes") || args.has("trust") || isInteractive(io)) return;
  const text = "Without a terminal, installing needs --yes (extensions run isolated) or --trust (they run as you).";
  throw new UsageError("arguments", text);
}

/** Without characters that a terminal would act on. */
const formatNames = (names: readonly string[]): string =>
  names.map((name) => JSON.stringify(name).slice(1, -1)).join(", ");

/** Several lines about a package, or about the plugins that a marketplace lists. */
export function describePackage({ source, names, locked, previous, manifest }: FetchedPackage, text: string): string {
  const version = locked ? ` ${locked.resolved.slice(0, 40)}` : "";
  const from = previous && previous.resolved !== locked?.resolved ? ` (was ${previous.resolved.slice(0, 40)})` : "";
  const rows = resourceKinds
    .filter((kind) => names[kind].length > 0)
    .map((kind) => `  ${kind.padEnd(12)} ${formatNames(names[kind])}\n`);
  // npm lists the directory it installs into, and a package that it fetched itself.
  const isOwn = (path: string) => path === "" || (source.kind === "npm" && path === `node_modules/${source.name}`);
  const dependencies = Object.keys(locked?.dependencies ?? {}).filter((path) => !isOwn(path)).length;
  if (dependencies > 0) rows.push(`  ${"dependencies".padEnd(12)} ${dependencies}\n`);
  const servers = Object.keys(manifest?.servers ?? {});
  if (servers.length > 0)
    rows.push(`  ${"servers".padEnd(12)} ${formatNames(servers)} (you are asked before the first start)\n`);
  for (const [kind, parts] of Object.entries(manifest?.plugin ?? {}) as [string, readonly string[]][]) {
    if (parts.length === 0) continue;
    rows.push(`  ${kind.padEnd(12)} ${formatNames(parts)} (not used: tau cannot run them yet)\n`);
  }
  if (manifest?.hasInstallScripts) rows.push("  Its install scripts are not run, so parts of it may not work.\n");
  const listing = manifest?.marketplace ? describeMarketplace(manifest.marketplace) : "";
  const brings = rows.length > 0 ? ` brings:\n${rows.join("")}` : "";
  if (listing === "") return `${text}${version}${from}${brings || " brings:\n"}`;
  return `${text}${version}${from}${brings === "" ? "" : `${brings}It`} ${listing}`;
}

const maxListed = 50;
const maxDescription = 100;

/** Lists the plugins of a marketplace, none of which is fetched or installed. */
function describeMarketplace({ name, plugins }: MarketplaceManifest): string {
  const rows = plugins.slice(0, maxListed).map(({ name: plugin, description, location }) => {
    const about = description === "" ? "" : ` (${formatNames([description.slice(0, maxDescription)])})`;
    return `  ${plugin}${about}: ${formatLocation(location)}\n`;
  });
  const more = plugins.length > maxListed ? `  and ${plugins.length - maxListed} more\n` : "";
  return `is the marketplace ${name}, which only lists plugins:\n${rows.join("")}${more}`;
}

function formatLocation(location: PluginLocation | undefined): string {
  switch (location?.kind) {
    case undefined:
      return "tau cannot fetch its source";
    case "inside":
      return location.path === "" ? "the marketplace itself" : `its directory ${formatNames([location.path])}`;
    case "git":
      return formatNames([`${location.source}${location.path === "" ? "" : `, directory ${location.path}`}`]);
    case "npm":
      return location.source;
  }
}

const changedKinds = ["plugins", "hooks", "servers", "files"] as const;

/** Several lines about what is different from the installed version of a plugin or a marketplace. Empty for others. */
export async function describeChanges({ manifest, root, previousRoot }: FetchedPackage): Promise<string> {
  if (previousRoot === undefined || (!manifest?.plugin && !manifest?.marketplace)) return "";
  const changes = await comparePackages(previousRoot, { root, manifest });
  if (!changes) return "";
  const rows = changedKinds.flatMap((kind) => formatChanges(kind, changes[kind]));
  return `What changes:\n${rows.join("") || "  nothing\n"}`;
}

function formatChanges(kind: string, changes: NameChanges): string[] {
  const parts = (["added", "changed", "removed"] as const).flatMap((how) => {
    const names = changes[how];
    if (names.length === 0) return [];
    const more = names.length > maxListed ? ` and ${names.length - maxListed} more` : "";
    return [`${how} ${formatNames(names.slice(0, maxListed))}${more}`];
  });
  return parts.length === 0 ? [] : [`  ${kind.padEnd(12)} ${parts.join("; ")}\n`];
}

/** The state of the extensions from now on. Throws if the user does not agree. */
export async function askToEnable(
  packages: readonly FetchedPackage[],
  args: Pick<CommandArgs, "has">,
  io: Io,
): Promise<"acknowledged" | "trusted"> {
  if (args.has("trust")) return "trusted";
  if (args.has("yes")) return "acknowledged";
  const hasExtensions = packages.some(({ names }) => names.extensions.length > 0);
  const what = packages.length === 1 ? "it" : `these ${packages.length} packages`;
  if (hasExtensions) {
    io.err("Extensions are programs. Isolated, they run in a sandbox and are asked about; trusted, they run as you.\n");
  }
  const answers = hasExtensions ? "[y] isolated, [t] trusted, [N] no" : "[y/N]";
  const answer = await ask(io, `Use ${what}? ${answers} `);
  const declined = "Nothing was installed.";
  if (answer === undefined) throw new HarnessError("aborted", declined);
  if (hasExtensions && /^t(rusted)?$/i.test(answer.trim())) return "trusted";
  if (/^(y(es)?|i(solated)?)$/i.test(answer.trim())) return "acknowledged";
  throw new UsageError("declined", declined);
}

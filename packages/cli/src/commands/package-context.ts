/** Opens what the commands about packages share. */
import { homedir } from "node:os";
import { systemIds } from "@tau/ai";
import { didYouMean } from "@tau/ai/internal";
import type { SettingsManager } from "@tau/config/settings";
import {
  changePackageEntries,
  type FetchOptions,
  getEntryId,
  getOwner,
  getPackageEntries,
  locateSource,
  type PackageEntry,
  type PackageScope,
  type PackageSource,
  toDetailed,
} from "@tau/config/installs";
import {
  type ExtensionTrustState,
  readExtensionTrust,
  readTrust,
  type TrustSubject,
  writeExtensionTrust,
} from "@tau/config/trust";
import { openSettings } from "../hosting/open-settings.ts";
import { expandHome, getAgentDir } from "../hosting/agent-dir.ts";
import type { Io } from "./command.ts";
import { reportSettingsProblems } from "./command-context.ts";
import type { CommandArgs } from "./usage.ts";
import { UsageError } from "../process/errors.ts";

export interface PackageContext {
  cwd: string;
  agentDir: string;
  settings: SettingsManager;
  /** The scope that the command line names. */
  scope: PackageScope;
}

/** With `--local` the project has to be trusted. One without any files of its own has nothing to distrust. */
export async function openPackageContext(args: CommandArgs, io: Io): Promise<PackageContext> {
  const { cwd } = io;
  const agentDir = getAgentDir(io);
  const settings = await openSettings({ cwd, agentDir, watch: false });
  reportSettingsProblems({ settings }, io);
  const scope = args.has("local") ? "project" : "user";
  if (scope === "project" && !settings.isProjectTrusted) {
    const { files } = await readTrust({ cwd, agentDir });
    if (files.length > 0) {
      throw new UsageError("invalid_input", `${cwd} is a project that you do not trust. Trust it first: tau trust`);
    }
    await settings.setProjectTrusted(true);
  }
  return { cwd, agentDir, settings, scope };
}

export const getFetchPorts = ({ settings, ...context }: PackageContext, args: Pick<CommandArgs, "has">, io: Io) => {
  const days = args.has("any-age") ? 0 : settings.get().packageMinAgeDays;
  const before = days === 0 ? undefined : new Date(Date.now() - days * 24 * 60 * 60 * 1_000);
  return { ...context, env: io.env, signal: io.signal, before } satisfies Partial<FetchOptions>;
};

/** The source that a person typed. A name alone is one of npm where that is what is configured. Throws `invalid_input`. */
export function readSource(text: string, io: Io): PackageSource {
  const source = locateSource(text, io.cwd, (path) => expandHome(io, path));
  if (source.kind === "invalid") throw new UsageError("invalid_input", source.message);
  return source;
}

/** Formats the source as the settings have it, before paths are made relative. */
export const toText = (source: PackageSource, typed: string): string =>
  source.kind === "local" ? source.path : typed.trim();

/** Whether an entry of the scope names a package of its own, and does not only filter one of the user's. */
export function isOwnEntry(entry: PackageEntry, { settings, scope }: PackageContext): boolean {
  if (scope === "user" || toDetailed(entry).autoload !== false) return true;
  return !getPackageEntries(settings).user.some((other) => getEntryId(other) === getEntryId(entry));
}

export const listOwnEntries = (context: PackageContext): readonly PackageEntry[] =>
  getPackageEntries(context.settings)[context.scope].filter((entry) => isOwnEntry(entry, context));

/** The configured entry that a person means: the same package in any version, or its name without `npm:`. */
export function findEntry({ settings, scope }: PackageContext, typed: string, io: Io): PackageEntry {
  const entries = getPackageEntries(settings)[scope];
  const wanted = locateSource(typed, io.cwd, (path) => expandHome(io, path));
  const ids = [wanted.kind === "invalid" ? undefined : wanted.id, `npm:${typed}`];
  const entry = entries.find((each) => ids.includes(getEntryId(each)) || toDetailed(each).source === typed);
  if (entry !== undefined) return entry;
  const hint = didYouMean(
    typed,
    entries.map((each) => toDetailed(each).source),
  );
  const where = scope === "project" ? "in the settings of this project" : "in your settings";
  const advice = hint || " tau list shows all.";
  throw new UsageError("invalid_input", `There is no package ${JSON.stringify(typed)} ${where}.${advice}`);
}

/** Calls `changePackageEntries` in the scope of the command. */
export async function changePackages(
  { scope, ...context }: PackageContext,
  change: (entries: readonly PackageEntry[]) => readonly PackageEntry[],
  around?: (write: () => Promise<void>) => Promise<void>,
): Promise<void> {
  await changePackageEntries({ ...context, ids: systemIds }, scope, change, around);
}

/**
 * Stores what the user said about the extensions of a package, for the content that was shown. Returns the state. What was
 * turned off stays so.
 */
export async function storeAnswer(
  { cwd, agentDir, scope }: PackageContext,
  { id, digest }: Pick<TrustSubject, "id" | "digest">,
  answer: "acknowledged" | "trusted",
): Promise<ExtensionTrustState> {
  const extension = { id, project: getOwner(scope, cwd), digest };
  let state = await readExtensionTrust(extension, { agentDir });
  if (state === "killed" || state === answer) return state;
  // What is trusted is not looked at a second time, so it has to be as if nobody had looked.
  const states = answer === "trusted" ? (["acknowledged", "trusted"] as const) : (["pending", "acknowledged"] as const);
  for (const to of states) {
    const change = { to, operator: "person", reason: "installed" };
    state = await writeExtensionTrust(extension, change, { agentDir, ids: systemIds });
  }
  return state;
}

export const getHome = ({ env }: Io): string => env["HOME"] || homedir();

/** Brings over what other programs have on this machine. Contacts no server, but for packages that the user installs. */
import { didYouMean } from "@tau/ai/internal";
import {
  applySteps,
  type AppliedStep,
  findItems,
  findUsedTools,
  type ImportKind,
  importKinds,
  type ImportPlan,
  type ImportStep,
  importTools,
  type LeftItem,
  locateTools,
  planImport,
  readExisting,
  toolTitles,
  type ToolLocation,
} from "@tau/config/imports";
import {
  findForeignSessions,
  type ForeignRoots,
  type ForeignSession,
  type ForeignSessions,
  type ImportedForeignSession,
  importForeignSessions,
  separateKnown,
} from "@tau/harness/imports";
import { HarnessError } from "@tau/protocol";
import { getAgentDir, getSessionDir } from "../hosting/agent-dir.ts";
import { jsonLine } from "../modes/json-line.ts";
import { ask, isInteractive } from "../process/ask.ts";
import { UsageError } from "../process/errors.ts";
import { type ExitCode, exitCodes } from "../process/exit-codes.ts";
import { clearLine, showsProgress } from "../process/terminal-text.ts";
import { getKeyPlatform } from "../terminal/environment.ts";
import { type Access, openAccess, reportNotices } from "./access.ts";
import type { Io } from "./command.ts";
import { reportSettingsProblems } from "./command-context.ts";
import {
  formatFound,
  formatLeft,
  formatList,
  formatSessions,
  type FoundKind,
  getKindTitle,
  groupSteps,
} from "./import-text.ts";
import { getHome } from "./package-context.ts";
import type { CommandArgs } from "./usage.ts";

/** Everything that was found, and what of it would be brought. */
interface Found {
  plan: ImportPlan;
  source: ForeignSessions;
  /** The sessions that may have something new. */
  sessions: readonly ForeignSession[];
}

export async function importAll(args: CommandArgs, io: Io): Promise<ExitCode | void> {
  const isDry = args.has("dry-run");
  if (!isDry && !args.has("yes") && !isInteractive(io)) {
    throw new UsageError(
      "arguments",
      "Without a terminal, an import needs --yes, or --dry-run to see what it would do.",
    );
  }
  const locations = chooseTools(args, io);
  if (locations.length === 0) return io.err(`There is nothing to import: ${formatNames(args)} have no files here.\n`);
  const access = await openAccess(io);
  try {
    reportSettingsProblems(access, io);
    const found = await find(locations, { access, args, io });
    try {
      return await (isDry ? show(found, args, io) : bring(found, { access, args, io }));
    } finally {
      found.source.close();
    }
  } finally {
    reportNotices(access, io);
    await access.close();
  }
}

const formatNames = (args: CommandArgs) =>
  formatList(args.values("from").length > 0 ? args.values("from") : importTools.map((tool) => toolTitles[tool]));

function chooseTools(args: CommandArgs, io: Io): ToolLocation[] {
  const names = args.values("from");
  for (const name of [...names, ...args.values("keys").map((key) => key.split("/")[0]!)]) {
    if (importTools.some((tool) => tool === name)) continue;
    const hint = didYouMean(name, importTools) || ` There are ${formatList(importTools)}.`;
    throw new UsageError("invalid_input", `tau cannot import from ${JSON.stringify(name)}.${hint}`);
  }
  const used = findUsedTools(locateTools(io.env, getHome(io)), getAgentDir(io));
  return names.length === 0 ? used : used.filter(({ tool }) => names.includes(tool));
}

interface Parts {
  access: Access;
  args: CommandArgs;
  io: Io;
}

async function find(locations: readonly ToolLocation[], { access, args, io }: Parts): Promise<Found> {
  const { agentDir, settings, stored } = access;
  const { items, problems } = await findItems(locations);
  const { getKeybindingDefinitions } = await import("../interactive/keybindings.ts");
  const keybindings = new Set(Object.keys(getKeybindingDefinitions(getKeyPlatform(process.platform, io.env))));
  const existing = await readExisting({ agentDir, settings, items, credentials: new Set(stored.keys()), keybindings });
  const plan = planImport(items, existing, { keys: args.values("keys") });
  const roots: ForeignRoots = Object.fromEntries(locations.map(({ tool, root, dataRoot = root }) => [tool, dataRoot]));
  const source = await findForeignSessions(roots);
  const { pending } = await separateKnown(source.sessions, agentDir);
  const unread = [
    ...problems.map(({ tool, path, reason }) => ({
      tool,
      kind: "settings" as const,
      path,
      reason: reason.replace(/\.$/, ""),
    })),
    ...source.skipped.map(({ tool, path, reason }) => ({ tool, kind: "sessions" as const, path, reason })),
  ];
  plan.left.push(...unread.map((item): LeftItem => ({ ...item, name: item.path, why: "cannot" })));
  for (const { path, reason } of existing.problems) io.err(`tau: ${path} ${reason}\n`);
  return { plan, source, sessions: pending };
}

const groupSessions = (sessions: readonly ForeignSession[]): FoundKind[] =>
  sessions.length === 0
    ? []
    : [
        {
          kind: "sessions",
          groups: importTools.flatMap((tool) => {
            const own = sessions.filter((session) => session.tool === tool);
            const bytes = own.reduce((sum, session) => sum + session.bytes, 0);
            return own.length === 0 ? [] : [{ tool, names: [], count: own.length, bytes }];
          }),
        },
      ];

const listKinds = ({ plan, sessions }: Found): FoundKind[] => [...groupSessions(sessions), ...groupSteps(plan.steps)];

/** Prints what an import would do. */
function show(found: Found, args: CommandArgs, io: Io): void {
  const { plan, sessions } = found;
  if (args.has("json")) {
    const lines = [
      ...sessions.map((session) => toSessionLine(session, { state: "planned" })),
      ...plan.steps.map((step) => toItemLine(step, { state: "planned" })),
      ...plan.left.map(toLeftLine),
    ];
    return io.out(lines.map(jsonLine).join(""));
  }
  const kinds = listKinds(found);
  io.out(kinds.length === 0 ? "There is nothing new to import.\n" : `An import would bring:\n${formatFound(kinds)}`);
  io.out(formatLeft(plan.left));
}

const toSessionLine = ({ tool, id, path }: ForeignSession, more: object) => ({
  type: "session",
  tool,
  id,
  path,
  ...more,
});
const toItemLine = ({ tool, kind, name, path }: Omit<ImportStep, "action">, more: object) => ({
  type: "item",
  tool,
  kind,
  name,
  path,
  ...more,
});
const toLeftLine = (item: LeftItem) =>
  toItemLine(item, { state: item.why === "present" ? "present" : "left", reason: item.reason });

/** Asks about each kind first, so that nothing is changed by somebody who changes their mind. */
async function bring(found: Found, parts: Parts): Promise<ExitCode | void> {
  const { args, io } = parts;
  const kinds = listKinds(found);
  if (!args.has("json")) {
    io.err(kinds.length === 0 ? "There is nothing new to import.\n" : `Found:\n${formatFound(kinds)}`);
  }
  const chosen = await askKinds(kinds, args, io);
  const steps = found.plan.steps.filter(({ kind }) => chosen.has(kind));
  const applied = await applySteps(steps, parts.access);
  const imported = chosen.has("sessions") ? await bringSessions(found, parts) : [];
  const packages = steps.filter(({ action }) => action.kind === "install");
  const areInstalled = await installPackages(packages, parts);
  const declined = found.plan.steps.filter(({ kind }) => !chosen.has(kind));
  report({ applied, imported, packages, areInstalled, declined, left: found.plan.left }, args, io);
  const hasFailed =
    applied.some(({ failure }) => failure !== undefined) || imported.some(({ outcome }) => outcome.kind === "failed");
  if (hasFailed || areInstalled === "failed") return exitCodes.failed;
}

async function askKinds(kinds: readonly FoundKind[], args: CommandArgs, io: Io): Promise<ReadonlySet<ImportKind>> {
  if (args.has("yes")) return new Set(importKinds);
  const chosen = new Set<ImportKind>();
  for (const { kind, groups } of kinds) {
    const count = groups.reduce((sum, group) => sum + group.count, 0);
    const from = formatList(groups.map(({ tool }) => toolTitles[tool]));
    const answer = await ask(io, `Bring ${getKindTitle(kind)} (${count}) of ${from}? [y/N] `);
    if (answer === undefined) throw new HarnessError("aborted", "Nothing was imported.");
    if (/^y(es)?$/i.test(answer.trim())) chosen.add(kind);
  }
  return chosen;
}

async function bringSessions({ source, sessions }: Found, { access, io }: Parts): Promise<ImportedForeignSession[]> {
  let isShown = false;
  const onProgress = (done: number, total: number) => {
    if (!showsProgress(io)) return;
    isShown = true;
    io.err(`${clearLine(io.env)}importing sessions: ${done} of ${total}`);
  };
  const imported = await importForeignSessions(source, sessions, {
    agentDir: access.agentDir,
    sessionDir: getSessionDir(io, undefined, access.settings.get().sessionDir),
    fallbackCwd: getHome(io),
    signal: io.signal,
    onProgress,
  });
  if (isShown) io.err(clearLine(io.env));
  return imported;
}

type Installed = "none" | "done" | "declined" | "failed";

/** Installs packages as `tau install` does: fetched, shown, asked about, and written into the lock. */
async function installPackages(steps: readonly ImportStep[], { args, io }: Parts): Promise<Installed> {
  if (steps.length === 0) return "none";
  const { enableAll, fetchAll } = await import("./install.ts");
  const { openPackageContext } = await import("./package-context.ts");
  const { getEntrySource } = await import("@tau/config/installs");
  const context = await openPackageContext(args, io);
  const wanted = steps.flatMap(({ action }) => {
    const source = action.kind === "install" ? getEntrySource(action.entry) : undefined;
    return action.kind === "install" && source ? [{ source, entry: action.entry, asLocked: false }] : [];
  });
  try {
    let failed = 0;
    // Plugins are looked up in marketplaces that are installed.
    for (const isPlugin of [false, true]) {
      const some = wanted.filter(({ source }) => (source.kind === "plugin") === isPlugin);
      const { fetched, failures } = await fetchAll(some, context, args, io, wanted.length === 1);
      await enableAll(fetched, context, args, args.has("json") ? { ...io, out: io.err } : io);
      failed += failures;
    }
    return failed > 0 ? "failed" : "done";
  } catch (error) {
    if (error instanceof UsageError && error.code === "declined") return "declined";
    if (!(error instanceof HarnessError) || error.code === "aborted") throw error;
    io.err(`tau: ${error.message}\n`);
    return "failed";
  }
}

interface Outcome {
  applied: readonly AppliedStep[];
  imported: readonly ImportedForeignSession[];
  packages: readonly ImportStep[];
  areInstalled: Installed;
  declined: readonly ImportStep[];
  left: readonly LeftItem[];
}

function report(
  { applied, imported, packages, areInstalled, declined, left }: Outcome,
  args: CommandArgs,
  io: Io,
): void {
  if (args.has("json")) {
    const packageState = areInstalled === "done" ? "brought" : areInstalled;
    const lines = [
      ...imported.map(({ session, outcome }) => {
        const { kind, ...rest } = outcome;
        return toSessionLine(session, {
          state: kind,
          ...("path" in rest ? { ...rest, path: session.path, session: rest.path } : rest),
        });
      }),
      ...applied.map(({ step, failure }) =>
        toItemLine(step, failure === undefined ? { state: "brought" } : { state: "failed", reason: failure }),
      ),
      ...packages.map((step) => toItemLine(step, { state: packageState })),
      ...declined.map((step) => toItemLine(step, { state: "declined" })),
      ...left.map(toLeftLine),
    ];
    return io.out(lines.map(jsonLine).join(""));
  }
  if (imported.length > 0) io.out(formatSessions(imported));
  const brought = groupSteps(applied.filter(({ failure }) => failure === undefined).map(({ step }) => step));
  if (brought.length > 0) io.out(`Brought:\n${formatFound(brought)}`);
  for (const { step, failure } of applied) {
    if (failure !== undefined)
      io.err(`tau: ${getKindTitle(step.kind)}, ${step.name} of ${toolTitles[step.tool]}: ${failure}\n`);
  }
  io.out(formatLeft(left));
  if (applied.some(({ step, failure }) => failure === undefined && step.kind === "keys")) {
    io.out(
      "Logins are now shared with the program they come from. If one renews a login, the other may have to log in again.\n",
    );
  }
}

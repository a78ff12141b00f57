/** The checks of `tau doctor`. A package that needs something of the machine adds a row here. */
import { access, constants, mkdtemp, readdir, rm, stat, statfs, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { didYouMean, getErrorMessage, platform } from "@tau/ai/internal";
import { HarnessError } from "@tau/protocol";
import { getMessageText } from "@tau/harness/host";
import { getSandboxSettings } from "@tau/config/trust";
import { type FileProblem, formatFileProblem, ignoredSettings } from "@tau/config/settings";
import type { DoctorResult, FeaturePlace } from "@tau/extensions";
import { allFeatures } from "@tau/features";
import type { Tools } from "@tau/tools";
import type { Io } from "./command.ts";
import type { Access } from "./access.ts";
import { listKeys } from "./auth-status.ts";

export interface CheckContext extends FeaturePlace {
  io: Io;
  access: Access;
  /** Whether servers may be contacted. */
  useNetwork: boolean;
}

export type CheckResult = DoctorResult;

interface Check {
  name: string;
  run: (context: CheckContext) => Promise<CheckResult>;
}

const ok = (says: string): CheckResult => ({ status: "ok", says });
const warn = (says: string, fix: string): CheckResult => ({ status: "warn", says, fix });
const fail = (says: string, fix: string): CheckResult => ({ status: "fail", says, fix });

export const checks: readonly Check[] = [
  { name: "node", run: async () => checkNode(process.versions.node) },
  { name: "directory", run: checkDirectory },
  { name: "settings", run: checkSettings },
  { name: "settings of pi", run: async ({ settings }) => describeIgnored(settings.ignored) },
  {
    name: "models.json",
    run: async ({ access: { registry } }) =>
      checkFile(registry.problems, "Correct the file. Everything else in it is used."),
  },
  { name: "extensions", run: checkExtensions },
  { name: "keys", run: checkKeys },
  { name: "shell", run: checkShell },
  { name: "search", run: checkSearch },
  { name: "sandbox", run: checkSandbox },
  ...allFeatures.flatMap(({ doctor = [] }) => doctor.map(({ name, check }) => ({ name, run: check }))),
  { name: "network", run: checkNetwork },
  { name: "disk", run: checkDisk },
  { name: "terminal", run: async ({ io }) => checkTerminal(io) },
];

/** Pure. */
export function checkNode(version: string): CheckResult {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return ok(version);
  return fail(`${version} is too old`, "Install Node 20.19 or later.");
}

async function checkDirectory({ agentDir, access: { notices } }: CheckContext): Promise<CheckResult> {
  const existing = await findExisting(agentDir);
  const fix = "Make it a directory that you can write to, or set TAU_DIR to one.";
  if (!(await stat(existing)).isDirectory()) return fail(`${existing} is not a directory`, fix);
  try {
    await access(existing, constants.W_OK | constants.X_OK);
  } catch (error) {
    return fail(getErrorMessage(error), fix);
  }
  if (existing !== agentDir) return ok(`${agentDir} will be created when it is needed`);
  // Reading credentials has already made the directory private, with this notice.
  const notice = notices.find(({ kind }) => kind === "permissions");
  const closed = await findClosedDirectory(join(agentDir, "sessions"));
  if (closed !== undefined)
    return fail(closed, `${fix} After a run with sudo, make all of it yours: sudo chown -R "$(id -u)" '${agentDir}'`);
  if (notice) return warn(notice.message, "If others use this machine, replace the keys in it: tau auth login");
  return ok(agentDir);
}

/** Why sessions cannot be read or saved in one of their directories; undefined if they can. */
async function findClosedDirectory(root: string): Promise<string | undefined> {
  try {
    const below = (await readdir(root, { withFileTypes: true })).filter((entry) => entry.isDirectory());
    for (const path of [root, ...below.map(({ name }) => join(root, name))])
      await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? undefined : getErrorMessage(error);
  }
}

/** The path itself, or the nearest directory above it that exists. */
async function findExisting(path: string): Promise<string> {
  const exists = (await stat(path).catch(() => undefined)) !== undefined;
  return exists || dirname(path) === path ? path : await findExisting(dirname(path));
}

async function checkSettings({ settings }: CheckContext): Promise<CheckResult> {
  const result = checkFile(settings.problems, "Correct the file: tau config edit");
  try {
    settings.mustBeWhole();
    return result;
  } catch (error) {
    if (!(error instanceof HarnessError)) throw error;
    return { ...result, status: "fail" };
  }
}

/** Describes settings of pi, which are no errors, but have no effect. Pure. */
function describeIgnored(names: readonly string[]): CheckResult {
  if (names.length === 0) return ok("none");
  return ok(`ignored: ${names.map((name) => `${name} (${ignoredSettings[name]})`).join(", ")}`);
}

/** Describes a file. A single error is the result itself; several are a line each in the fix. */
function checkFile(problems: readonly FileProblem[], fix: string): CheckResult {
  const [first, ...others] = problems.map(formatFileProblem);
  if (first === undefined) return ok("no errors");
  if (others.length === 0) return warn(first, fix);
  return warn(`${problems.length} errors`, [first, ...others, fix].join("\n      "));
}

/** Loads the extensions without a session. Handlers of events that there are not are reported here alone. */
async function checkExtensions({ io }: CheckContext): Promise<CheckResult> {
  const { allExtensions, checkRegistrations } = await import("../hosting/load-registrations.ts");
  const { extensions, problems } = await checkRegistrations(io, allExtensions);
  const { extensionEventNames } = await import("@tau/extensions");
  const unknown = extensions.flatMap(({ source, unknownEvents }) =>
    unknownEvents.map(
      (event) => `${source.name}: there is no event ${event}.${didYouMean(event, extensionEventNames)}`,
    ),
  );
  const [first, ...others] = [...problems.map(({ extension, message }) => `${extension}: ${message}`), ...unknown];
  if (first === undefined) return ok(extensions.length === 0 ? "none" : `${extensions.length} without errors`);
  const fix =
    unknown.length > 0
      ? "A handler of an event that there is not is never called. Correct the name, or update the extension and tau."
      : "Correct the extension, or turn it off: tau extensions kill NAME";
  if (others.length === 0) return warn(first, fix);
  return warn(`${others.length + 1} problems`, [first, ...others, fix].join("\n      "));
}

async function checkKeys({ access: keyAccess, io }: CheckContext): Promise<CheckResult> {
  const providers = await listKeys(keyAccess, io);
  const notice = keyAccess.notices.find(({ kind }) => kind !== "permissions");
  if (notice) return warn(notice.message, "Correct it, or log in again: tau auth login");
  if (providers.length === 0) {
    return warn("there is none", "Run tau auth login, or set a variable: tau help keys. Local servers need none.");
  }
  const says = providers.map(({ provider, keys }) => `${provider} (${keys[0]?.text ?? ""})`).join(", ");
  const isUnreadable = providers.some(({ keys }) => keys.some(({ unreadable }) => unreadable));
  return isUnreadable ? warn(says, "Unlock the key chain, or log in again: tau auth login") : ok(says);
}

/** Runs `work` in a temporary directory, with the tools of a model. An error fails the check with this fix. */
async function tryTools(fix: string, work: (tools: Tools["byName"], directory: string) => Promise<CheckResult>) {
  const { createTools } = await import("@tau/tools");
  const directory = await mkdtemp(join(tmpdir(), "tau-doctor-"));
  const tools = createTools({ cwd: directory });
  try {
    return await work(tools.byName, directory);
  } catch (error) {
    return fail(getErrorMessage(error), fix);
  } finally {
    await tools.dispose();
    await rm(directory, { recursive: true, force: true });
  }
}

async function checkShell({ io }: CheckContext): Promise<CheckResult> {
  const fix = "Install bash, or set shellPath: tau config set shellPath /path/to/bash";
  return await tryTools(fix, async ({ bash }) => {
    const command = "echo tau${BASH_VERSION:+ bash $BASH_VERSION}";
    const output = getMessageText(await bash.execute("doctor", { command }, io.signal));
    const version = /tau bash (\S+)/.exec(output)?.[1];
    if (version !== undefined) return ok(`bash ${version}`);
    if (!output.includes("tau")) return fail(output, fix);
    return warn("there is no bash, only sh", "Install bash: models expect it.");
  });
}

async function checkSearch({ io }: CheckContext): Promise<CheckResult> {
  const fix = "Install tau again: ripgrep is a part of it, in a package for each platform.";
  return await tryTools(fix, async ({ grep }, directory) => {
    await writeFile(join(directory, "a.txt"), "a needle\n");
    const output = getMessageText(await grep.execute("doctor", { pattern: "needle" }, io.signal));
    return output.includes("a.txt") ? ok("ripgrep works") : fail("ripgrep does not find an existing text", fix);
  });
}

async function checkSandbox({ cwd, agentDir, settings: manager }: CheckContext): Promise<CheckResult> {
  const { createSessionSandbox } = await import("@tau/sandbox");
  const settings = getSandboxSettings(manager);
  const state = await createSessionSandbox({ cwd, agentDir, home: homedir(), settings }).getState();
  switch (state.kind) {
    case "works":
      if (state.with === "seatbelt")
        return ok("commands run in the sandbox of macOS, which has refused all that it was tried with");
      if (!state.guardsSockets)
        return warn(`commands run in a sandbox, ${describeWeakness(state.with)}`, weaknessFixes[state.with]);
      return state.limitsMemoryFiles
        ? ok("commands run in a sandbox, one for a session")
        : warn("commands run in a sandbox, in which files in memory have no limit", "Install bubblewrap 0.7 or newer.");
    case "off":
      return warn("the setting sandbox.mode is off, so commands can do whatever you can", "Set it to auto.");
    case "unavailable": {
      const report = settings.mode === "required" ? fail : warn;
      return report(state.reason, state.fix);
    }
  }
}

const describeWeakness = (program: "helper" | "bwrap"): string => {
  const sockets = "and can connect to sockets that other programs open while they run";
  return program === "helper" ? `one for a session, ${sockets}` : `one for each command, ${sockets}`;
};

const weaknessFixes = {
  helper:
    "The kernel does not let the sandbox check connections: it needs Linux 5.9 and system calls that a container may refuse (seccomp, pidfd_getfd).",
  bwrap: "Install tau again: the helper of the sandbox is a part of it, for x64 and arm64.",
};

const proxyVariables = ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"].flatMap((name) => [
  name,
  name.toLowerCase(),
]);

/** Contacts servers only if that is allowed; otherwise says what is configured. */
async function checkNetwork({
  io,
  access: { registry, settings, env },
  useNetwork,
}: CheckContext): Promise<CheckResult> {
  if (useNetwork) await registry.discover();
  const urls = registry.getAvailable().map(({ baseUrl }) => baseUrl);
  const origins = [...new Set(urls.filter((url) => URL.canParse(url)).map((url) => new URL(url).origin))];
  const proxies = proxyVariables.filter((name) => io.env[name]);
  if (settings.get().httpProxy !== undefined) proxies.push("the setting httpProxy");
  const proxy = proxies.length === 0 ? "no proxy" : `${proxies.join(", ")} set`;
  if (!useNetwork) return ok(`${proxy}; model servers, not contacted without --network: ${formatOrigins(origins)}`);
  const silent: string[] = [];
  for (const origin of origins) if (!(await isReachable(origin, io.signal, env))) silent.push(origin);
  if (silent.length === 0) return ok(`${proxy}; model servers that answered: ${formatOrigins(origins)}`);
  const fix =
    proxies.length === 0 ? "Check the connection, or set HTTPS_PROXY." : "Check the connection and the proxy.";
  const status = silent.length === origins.length ? fail : warn;
  return status(`no answer from ${formatOrigins(silent)}`, fix);
}

function formatOrigins(origins: readonly string[]): string {
  const more = origins.length > 5 ? ` and ${origins.length - 5} more` : "";
  return origins.length === 0 ? "none" : `${origins.slice(0, 5).join(", ")}${more}`;
}

const timeoutMs = 5_000;

/** Any answer is enough, even an error. No key is sent. */
async function isReachable(url: string, signal: AbortSignal, env: Access["env"]): Promise<boolean> {
  const signals = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const request = { method: "GET", url, headers: {}, body: "" } as const;
  const response = await platform.send(request, { signal: signals, env }).catch(() => undefined);
  response?.cut();
  return response !== undefined;
}

async function checkDisk({ agentDir }: CheckContext): Promise<CheckResult> {
  const { bavail, bsize } = await statfs(await findExisting(agentDir));
  const freeMb = Math.floor((bavail * bsize) / 1024 ** 2);
  const says = `${freeMb} MB free for sessions`;
  if (freeMb < 20) return fail(says, "Free some space: sessions cannot be saved on a full disk.");
  if (freeMb >= 500) return ok(says);
  return warn(says, "Free some space, for example: tau sessions list --all, tau sessions delete --for-good");
}

/** Pure. */
export function checkTerminal({ terminal, env, colour }: Pick<Io, "terminal" | "env" | "colour">): CheckResult {
  if (!terminal.out) return ok("standard output is not a terminal: output is plain text");
  const { TERM: term = "" } = env;
  if (term === "" || term === "dumb") {
    return warn(`TERM is ${term || "not set"}`, "Set TERM, for example to xterm-256color.");
  }
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"] || "";
  if (!/utf-?8/i.test(locale)) {
    return warn(
      `${term}, and the locale is ${locale || "not set"}`,
      "Set LANG to a UTF-8 locale, for example C.UTF-8.",
    );
  }
  return ok(`${term}, ${colour ? "colours" : "no colours"}, ${locale}`);
}

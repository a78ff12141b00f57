/** What is looked at. A package that needs something of the machine adds its row here. */
import { access as mayUse, constants, mkdtemp, rm, stat, statfs, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { getErrorMessage, systemClock } from "@tau/ai";
import { formatFileProblem } from "@tau/harness/settings";
import type { Tools } from "@tau/tools";
import type { Io } from "../command.ts";
import type { Access } from "./access.ts";
import { getKeys } from "./auth-status.ts";
import type { CommandContext } from "./command-context.ts";

export interface Patient {
  io: Io;
  context: CommandContext;
  access: Access;
  /** Whether anybody may be contacted. */
  asksNetwork: boolean;
}

export interface Finding {
  status: "ok" | "warn" | "fail";
  says: string;
  /** What to do about it. */
  fix?: string;
}

export interface Check {
  name: string;
  look: (patient: Patient) => Promise<Finding>;
}

const ok = (says: string): Finding => ({ status: "ok", says });
const warn = (says: string, fix: string): Finding => ({ status: "warn", says, fix });
const fail = (says: string, fix: string): Finding => ({ status: "fail", says, fix });

export const checks: readonly Check[] = [
  { name: "node", look: async () => nodeFinding(process.versions.node) },
  { name: "directory", look: lookAtDirectory },
  { name: "settings", look: lookAtSettings },
  { name: "models.json", look: lookAtModels },
  { name: "keys", look: lookAtKeys },
  { name: "shell", look: lookAtShell },
  { name: "search", look: lookAtSearch },
  { name: "sandbox", look: lookAtSandbox },
  { name: "network", look: lookAtNetwork },
  { name: "disk", look: lookAtDisk },
  { name: "terminal", look: async ({ io }) => terminalFinding(io) },
];

/** Pure. */
export function nodeFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return ok(version);
  return fail(`${version} is too old`, "Install Node 20.19 or later.");
}

async function lookAtDirectory({ context: { agentDir }, access }: Patient): Promise<Finding> {
  const nearest = await nearestThere(agentDir);
  const isThere = nearest === agentDir;
  const stats = await stat(nearest);
  const fix = "Make it a directory that you may write, or set TAU_DIR to one.";
  if (!stats.isDirectory()) return fail(`${nearest} is no directory`, fix);
  const refusal = await mayUse(nearest, constants.W_OK | constants.X_OK).then(
    () => undefined,
    (error: unknown) => getErrorMessage(error),
  );
  if (refusal !== undefined) return fail(refusal, fix);
  if (!isThere) return ok(`${agentDir} will be made when it is needed`);
  // Whoever reads credentials makes their directory private first.
  const notice = access.notices.find(({ kind }) => kind === "permissions");
  if (notice) return warn(notice.message, "Replace the keys in it, if others use this machine: tau auth login");
  return ok(agentDir);
}

async function nearestThere(path: string): Promise<string> {
  for (let at = path; ; at = dirname(at)) {
    if (await stat(at).catch(() => undefined)) return at;
    if (dirname(at) === at) return at;
  }
}

async function lookAtSettings({ context: { settings } }: Patient): Promise<Finding> {
  const [first, ...more] = settings.problems;
  if (!first) return ok("nothing is wrong with them");
  return warn(`${formatFileProblem(first)}${others(more)}`, "Correct it: tau config edit");
}

const others = (more: readonly unknown[]): string => (more.length === 0 ? "" : ` (and ${more.length} more)`);

async function lookAtModels({ access: { registry } }: Patient): Promise<Finding> {
  const [first, ...more] = registry.problems;
  if (!first) return ok("nothing is wrong with it");
  return warn(`${formatFileProblem(first)}${others(more)}`, "Correct the file; what is right in it counts.");
}

async function lookAtKeys({ access, io }: Patient): Promise<Finding> {
  const found = await getKeys(access, io);
  const notice = access.notices.find(({ kind }) => kind !== "permissions");
  if (notice) return warn(notice.message, "Correct it, or log in again: tau auth login");
  if (found.length > 0) return ok(found.map(({ provider, keys }) => `${provider} (${keys[0]?.text ?? ""})`).join(", "));
  return warn("there is none", "tau auth login, or set a variable: tau help keys. Local servers need none.");
}

/** Runs work in a directory of its own, with the tools that a model gets. */
async function withTools<T>(work: (tools: Tools, directory: string) => Promise<T>): Promise<T> {
  const { createTools } = await import("@tau/tools");
  const directory = await mkdtemp(join(tmpdir(), "tau-doctor-"));
  const tools = createTools({ cwd: directory });
  try {
    return await work(tools, directory);
  } finally {
    await tools.dispose();
    await rm(directory, { recursive: true, force: true });
  }
}

async function lookAtShell({ io }: Patient): Promise<Finding> {
  return await withTools(async ({ byName }) => {
    try {
      const result = await byName.bash.execute(
        "doctor",
        { command: "echo tau${BASH_VERSION:+ bash $BASH_VERSION}" },
        io.signal,
      );
      const said = getText(result);
      const version = /tau bash (\S+)/.exec(said)?.[1];
      if (version !== undefined) return ok(`bash ${version}`);
      return said.includes("tau")
        ? warn("there is no bash, only sh", "Install bash: models expect it.")
        : fail(said, shellFix);
    } catch (error) {
      return fail(getErrorMessage(error), shellFix);
    }
  });
}

const shellFix = "Install bash, or set shellPath: tau config set shellPath /path/to/bash";

async function lookAtSearch({ io }: Patient): Promise<Finding> {
  return await withTools(async ({ byName }, directory) => {
    await writeFile(join(directory, "a.txt"), "a needle\n");
    try {
      const said = getText(await byName.grep.execute("doctor", { pattern: "needle" }, io.signal));
      return said.includes("a.txt")
        ? ok("ripgrep finds things")
        : fail("ripgrep does not find what is there", searchFix);
    } catch (error) {
      return fail(getErrorMessage(error), searchFix);
    }
  });
}

const searchFix = "Install tau again: ripgrep comes with it, in a package for each platform.";

const getText = ({ content }: { content: readonly { type: string; text?: string }[] }): string =>
  content.map(({ text }) => text ?? "").join("");

async function lookAtSandbox(): Promise<Finding> {
  const { createSpawn, findPidNamespace } = await import("@tau/tools");
  const found = await findPidNamespace(createSpawn());
  if (found) return ok(`commands run in a pid namespace of their own (${found.name})`);
  if (process.platform !== "linux")
    return warn("there are no pid namespaces here", "Nothing: commands are ended as well as can be.");
  const fix = "Install unshare (util-linux) or bubblewrap, and in a container allow namespaces.";
  return warn("no pid namespace can be made: what a command leaves running may stay", fix);
}

const proxies = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "NO_PROXY"];

/** Says what is configured; asks only who may be asked. */
async function lookAtNetwork({ io, access: { registry }, asksNetwork }: Patient): Promise<Finding> {
  if (asksNetwork) await registry.discover();
  const urls = registry.getAvailable().map(({ baseUrl }) => baseUrl);
  const origins = [...new Set(urls.filter((url) => URL.canParse(url)).map((url) => new URL(url).origin))];
  const set = proxies.filter((name) => io.env[name]);
  const proxy = set.length === 0 ? "no proxy" : `${set.join(", ")} set`;
  if (!asksNetwork) return ok(`${proxy}; models at ${listed(origins)}; nobody was asked (--network asks)`);
  const silent: string[] = [];
  for (const origin of origins) if (!(await answers(origin, io.signal))) silent.push(origin);
  if (silent.length === 0) return ok(`${proxy}; ${listed(origins)} answered`);
  const fix = set.length === 0 ? "Check the connection, or set HTTPS_PROXY." : "Check the connection and the proxy.";
  const status = silent.length === origins.length ? fail : warn;
  return status(`no answer from ${listed(silent)}`, fix);
}

function listed(origins: readonly string[]): string {
  const more = origins.length > 5 ? ` and ${origins.length - 5} more` : "";
  return origins.length === 0 ? "no origin yet" : `${origins.slice(0, 5).join(", ")}${more}`;
}

const patienceMs = 5_000;

/** Any answer will do, also one that says no. No key is sent. */
async function answers(origin: string, signal: AbortSignal): Promise<boolean> {
  const late = new AbortController();
  const cancel = systemClock.setTimer(patienceMs, () => late.abort());
  try {
    const response = await fetch(origin, {
      method: "HEAD",
      redirect: "manual",
      signal: AbortSignal.any([signal, late.signal]),
    });
    await response.body?.cancel();
    return true;
  } catch (error) {
    if (error instanceof TypeError || late.signal.aborted || signal.aborted) return false;
    throw error;
  } finally {
    cancel();
  }
}

const megabyte = 1024 * 1024;

async function lookAtDisk({ context: { agentDir } }: Patient): Promise<Finding> {
  const { bavail, bsize } = await statfs(await nearestThere(agentDir));
  const free = Math.floor((bavail * bsize) / megabyte);
  const says = `${free} MB free for sessions`;
  if (free < 20) return fail(says, "Make room: sessions cannot be kept on a full disk.");
  return free < 500
    ? warn(says, "Make room before it is full: tau sessions list --all, tau sessions delete --for-good")
    : ok(says);
}

/** Pure. */
export function terminalFinding({ terminal, env, colour }: Pick<Io, "terminal" | "env" | "colour">): Finding {
  if (!terminal.out) return ok("standard output is no terminal: plain text is written");
  const { TERM: term = "" } = env;
  if (term === "" || term === "dumb") return warn(`TERM is ${term || "not set"}`, "Set TERM, such as xterm-256color.");
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"] || "";
  if (!/utf-?8/i.test(locale))
    return warn(`${term}, and the locale is ${locale || "not set"}`, "Set LANG to one with UTF-8, such as C.UTF-8.");
  return ok(`${term}, ${colour ? "colours" : "no colours"}, ${locale}`);
}

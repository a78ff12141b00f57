/** Projects for the tests of the sandbox, and processes that work in them as root or as an ordinary user. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { build } from "esbuild";
import { test, type TestContext } from "vitest";
import { findProgram } from "../src/programs.ts";
import type { RunnerEnd, RunnerInput, RunnerResult } from "./runner.ts";

export type User = "root" | "ordinary";

/** The number of `nobody`, which every system has. */
const nobody = "65534";
const isRoot = process.getuid?.() === 0;

const hasBwrap = findProgram("bwrap", "/nowhere") !== undefined;
// oxlint-disable-next-line no-console -- a test that is left out must be seen
if (!hasBwrap) console.log("bubblewrap is not installed: THE SANDBOX IS NOT TESTED.");

/** The users that the tests run as. Only root can become an ordinary user. */
export const users: readonly User[] = !hasBwrap ? [] : isRoot ? ["root", "ordinary"] : ["ordinary"];

type TestFunction = (context: TestContext) => Promise<void>;

/**
 * `test` for tests that are repeated for each user and each kind of sandbox. In a short run each of them is run for one kind as
 * root and for the other kind as an ordinary user, in turns; with `TAU_LONG=1` for all.
 */
export function takeTurns(user: User, kind: 0 | 1): (name: string, run: TestFunction) => void {
  let turn = kind + users.indexOf(user);
  const isLong = Boolean(process.env["TAU_LONG"]) || users.length === 1;
  return (name, run) => {
    // oxlint-disable-next-line vitest/no-conditional-tests -- one that is not run here is run elsewhere
    if (turn++ % 2 === 0 || isLong) test(name, run);
  };
}

export interface Base {
  directory: string;
  /** Undefined where it cannot be built. */
  helper: string | undefined;
  runner: string;
  /** The processes that run sessions for which a process of their own does not matter, by their user. */
  shared: Map<User, SharedRunner>;
}

/** Readable for every user: the tests run some processes as another one. */
export async function createBase(): Promise<Base> {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "tau-sandbox-test-")));
  chmodSync(directory, 0o755);
  const runner = join(directory, "runner.mjs");
  await build({
    entryPoints: [join(import.meta.dirname, "runner.ts")],
    outfile: runner,
    bundle: true,
    platform: "node",
    format: "esm",
    conditions: ["@tau/source"],
    external: ["google-auth-library", "@silvia-odwyer/photon-node", "@vscode/ripgrep"],
    logLevel: "error",
  });
  const built = buildHelper();
  const helper = built === undefined ? undefined : join(directory, "helper");
  if (built !== undefined && helper !== undefined) {
    copyFileSync(built, helper);
    chmodSync(helper, 0o755);
  }
  // oxlint-disable-next-line no-console -- a test that is left out must be seen
  else console.log("There is no C compiler: ONE SANDBOX PER SESSION IS NOT TESTED.");
  const projects = join(directory, "projects");
  mkdirSync(projects);
  chmodSync(projects, 0o1777);
  return { directory, helper, runner, shared: new Map() };
}

/** Undefined where there is no compiler. */
function buildHelper(): string | undefined {
  const script = join(import.meta.dirname, "../../../scripts/build-sandbox-helper.mjs");
  const path = execFileSync(process.execPath, [script], { encoding: "utf8" }).trim();
  return path === "not built" ? undefined : path;
}

export async function removeBase({ directory, shared }: Base): Promise<void> {
  await Promise.all([...shared.values()].map((runner) => runner.end()));
  // Attempts leave directories that an ordinary user may not change.
  execFileSync("chmod", ["-R", "u+rwX", directory]);
  rmSync(directory, { recursive: true, force: true });
}

/** The program and its arguments, such that it runs as this user. */
function asUser(user: User, argv: readonly string[]): [string, string[]] {
  const [program, ...args] =
    user === "ordinary" && isRoot
      ? ["setpriv", "--reuid", nobody, "--regid", nobody, "--clear-groups", "--", ...argv]
      : argv;
  return [program!, args];
}

const path = process.env["PATH"] ?? "/usr/bin:/bin";

export interface Outcome {
  code: number;
  text: string;
}

/** Runs a script outside of the sandbox. It may be longer than an argument can be. */
export async function outside(user: User, script: string, env: Record<string, string> = {}): Promise<Outcome> {
  const [program, args] = asUser(user, ["bash", "--norc", "--noprofile", "-s"]);
  const child = spawn(program, args, { env: { PATH: path, GIT_CONFIG_NOSYSTEM: "1", ...env } });
  child.stdin.end(script);
  const pieces: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece: Buffer) => pieces.push(piece));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code: code ?? 1, text: Buffer.concat(pieces).toString() };
}

/** Makes projects with a repository, all alike; answers with their directories. */
export async function createProjects({ directory }: Base, user: User, names: readonly string[]): Promise<string[]> {
  const projects = names.map((name) => join(directory, "projects", `${user}-${name}`));
  const template = join(directory, "projects", `${user}-template`);
  const script = `
    set -e; umask 022; test -d ${template} || {
      mkdir -p ${template}/ws ${template}/home ${template}/agent ${template}/outside; cd ${template}/ws
      export HOME=${template}/home; git init -q; rm -f .git/hooks/*; git config user.name Test; git config user.email test@example.com
      echo text >a.txt; git add .; git commit -qm one; echo fine >../outside/file; }
    for project in ${projects.join(" ")}; do cp -a ${template} $project; done`;
  const { code, text } = await outside(user, script);
  if (code !== 0) throw new Error(text);
  return projects;
}

export interface RunOptions {
  base: Base;
  user: User;
  env?: Record<string, string>;
  /** A directory that the process has open from the start, as descriptor 40. */
  inherits?: string;
  /** Whether mounts outside reach other namespaces, as on most systems. They are those of the process alone. For root. */
  sharesMounts?: boolean;
  /** How many sessions run at a time. Default 1. */
  atOnce?: number;
}

function spawnRunner({ base, user, env = {}, inherits, sharesMounts = false, atOnce = 1 }: RunOptions) {
  const inheriting = inherits === undefined ? [] : ["bash", "-c", 'exec 40<"$0"; exec "$@"', inherits];
  const sharing = sharesMounts
    ? ["unshare", "-m", "--propagation", "private", "sh", "-c", 'mount --make-rshared / && exec "$@"', "sh"]
    : [];
  const [program, args] = asUser(user, [...sharing, ...inheriting, process.execPath, base.runner, String(atOnce)]);
  return spawn(program, args, { env: { PATH: path, ...env }, stdio: ["pipe", "pipe", "inherit"] });
}

export function startRunner(options: RunOptions, sessions: readonly RunnerInput[]): ChildProcess {
  const child = spawnRunner(options);
  child.stdin.end(`${JSON.stringify(sessions)}\n`);
  return child;
}

interface SharedRunner {
  run(sessions: readonly RunnerInput[]): Promise<RunnerResult[]>;
  /** Resolves when the process has ended. */
  end(): Promise<void>;
}

interface PendingList {
  results: RunnerResult[];
  resolve: () => void;
  reject: (error: Error) => void;
}

/** A process that runs lists of sessions, also several at once: to start it takes longer than most lists. */
function startSharedRunner(options: RunOptions): SharedRunner {
  const child = spawnRunner(options);
  const lists: PendingList[] = [];
  createInterface(child.stdout).on("line", (line) => {
    const result = JSON.parse(line) as RunnerResult | RunnerEnd;
    const { results, resolve } = lists[result.list]!;
    if ("isEnd" in result) resolve();
    else results.push(result);
  });
  const closed = new Promise<void>((resolve) => {
    child.once("close", (code) => {
      for (const { results, reject } of lists) {
        reject(new Error(`The runner ended with ${code}:\n${JSON.stringify(results)}`));
      }
      resolve();
    });
  });
  return {
    async run(sessions) {
      const results: RunnerResult[] = [];
      await new Promise<void>((resolve, reject) => {
        lists.push({ results, resolve, reject });
        child.stdin.write(`${JSON.stringify(sessions)}\n`);
      });
      const count = sessions.reduce((sum, { commands }) => sum + commands.length, 0);
      if (results.length !== count) throw new Error(`The runner wrote ${JSON.stringify(results)}`);
      return results;
    },
    async end() {
      child.stdin.end();
      await closed;
    },
  };
}

/** Runs sessions in the sandbox; one list of results for each. Those with options of their own have a process of their own. */
export async function runSessions(options: RunOptions, sessions: readonly RunnerInput[]): Promise<RunnerResult[][]> {
  const { base, user, ...own } = options;
  const isShared = Object.keys(own).length === 0;
  const runner = (isShared && base.shared.get(user)) || startSharedRunner(options);
  if (isShared) base.shared.set(user, runner);
  const results = await runner.run(sessions);
  if (!isShared) await runner.end();
  return sessions.map((_unused, index) => results.filter(({ session }) => session === index));
}

/** The parts of a session that depend on its project. The projects are among temporary files, which stay as they are. */
export const inProject = (project: string) => ({
  cwd: join(project, "ws"),
  home: join(project, "home"),
  agentDir: join(project, "agent"),
  temporaryDirectories: ["/var/tmp"],
});

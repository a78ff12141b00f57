/** Runs the installed program as a child process. It is packed once for each state of the sources. */
import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { systemClock, systemIds } from "@tau/ai";
import { holdLease } from "@tau/tools/durable";
import { onTestFinished } from "vitest";
import type { Workspace } from "../kit.ts";

const root = join(import.meta.dirname, "..", "..", "..", "..");
const cache = join(root, "node_modules", ".cache", "tau");
const execute = promisify(execFile);

/**
 * The base of a code cache that the programs of all tests share, as those of a user do: without it each of them compiles
 * everything it needs. An empty `XDG_CACHE_HOME` gives a program the cache in its own home.
 */
export const cacheHome = join(cache, "cache-home");

/** A hash of all files that go into the archive. */
function fingerprint(): string {
  const hash = createHash("sha256");
  const sources = readdirSync(join(root, "packages")).flatMap((name) =>
    [join("packages", name, "src"), join("packages", name, "catalog"), join("packages", name, "package.json")].flatMap(
      below,
    ),
  );
  for (const file of [
    ...sources,
    ...below("scripts"),
    ...below("docs"),
    ...below("examples"),
    "package-lock.json",
  ].sort()) {
    if (!file.endsWith(".test.ts")) hash.update(file).update(readFileSync(join(root, file)));
  }
  return hash.digest("hex").slice(0, 16);
}

function below(path: string): string[] {
  const full = join(root, path);
  if (!existsSync(full)) return [];
  if (/\.\w+$/.test(path)) return [path];
  const entries = readdirSync(full, { recursive: true, withFileTypes: true });
  return entries.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name).slice(root.length + 1));
}

/**
 * Returns the directory of the installed program. The archive is unpacked like npm does it, beside copies of its
 * dependencies: no registry is contacted, and no file of the repository can be reached from there.
 */
export const installed = (): Promise<string> => (installation ??= install());

let installation: Promise<string> | undefined;

async function install(): Promise<string> {
  const directory = await makeOnce("packed", fingerprint(), pack);
  return join(directory, "node_modules", "@tau", "cli");
}

/**
 * Returns a directory that is made once for each state of what it is made from: to pack takes ten seconds of processor time,
 * and the files of these tests begin together. Those of earlier states are removed.
 */
async function makeOnce(name: string, hash: string, make: (directory: string) => Promise<void>): Promise<string> {
  const store = join(cache, name);
  const directory = join(store, hash);
  await mkdir(store, { recursive: true });
  await holdLease(store, { clock: systemClock, ids: systemIds, maxWaitMs: 280_000 }, async () => {
    if (existsSync(directory)) return;
    const fresh = await mkdtemp(join(store, "new-"));
    await make(fresh);
    for (const old of await readdir(store)) {
      if (old !== basename(fresh)) await rm(join(store, old), { recursive: true, force: true });
    }
    await rename(fresh, directory);
  });
  return directory;
}

async function pack(directory: string): Promise<void> {
  const script = join(root, "scripts", "pack-cli.mjs");
  const archive = execFileSync(process.execPath, [script, directory], { encoding: "utf8" });
  const scope = join(directory, "node_modules", "@tau");
  await mkdir(scope, { recursive: true });
  execFileSync("tar", ["xzf", archive.trim(), "-C", scope]);
  await rename(join(scope, "package"), join(scope, "cli"));
  const wanted = JSON.parse(readFileSync(join(scope, "cli", "npm-shrinkwrap.json"), "utf8")) as {
    packages: Record<string, unknown>;
  };
  for (const path of Object.keys(wanted.packages)) {
    if (path === "" || !existsSync(join(root, path))) continue;
    await cp(join(root, path), join(directory, path), { recursive: true });
  }
}

/** The packages that are published besides the program, and whose README has an example for Node. */
export const libraries =
  "ai agent protocol tools markdown sandbox policy config extensions harness features tui pi pi-sdk".split(" ");

/** All packages that are published besides the program. */
export const published = [...libraries, "gateway", "cluster", "react"];

/** Unpacks the archives of the libraries as npm would, beside links to their dependencies. They are made from `dist`. */
export async function installLibraries(directory: string): Promise<void> {
  const unpacked = await makeOnce("libraries", fingerprintLibraries(), packLibraries);
  const modules = join(directory, "node_modules");
  await mkdir(modules);
  await execute("cp", ["-R", unpacked, join(modules, "@tau")]);
  for (const name of readdirSync(join(root, "node_modules"))) {
    if (name !== "@tau" && !name.startsWith(".")) await symlink(join(root, "node_modules", name), join(modules, name));
  }
  await writeFile(join(directory, "package.json"), '{ "type": "module" }');
}

/** A hash of the names, sizes and times of the files of the libraries, without those that are never packed. */
function fingerprintLibraries(): string {
  const hash = createHash("sha256");
  for (const name of published) {
    if (!existsSync(join(root, "packages", name, "dist", ".tsbuildinfo"))) {
      throw new Error("Build first: node scripts/build.mjs --types");
    }
    for (const file of below(join("packages", name)).sort()) {
      if (/^packages\/[^/]+\/(?:src|test|node_modules)\//.test(file)) continue;
      const { size, mtimeMs } = statSync(join(root, file));
      hash.update(`${file} ${size} ${mtimeMs}\n`);
    }
  }
  return hash.digest("hex").slice(0, 16);
}

/** Unpacks the archive of each library to a directory of its name. */
async function packLibraries(directory: string): Promise<void> {
  const archives = await mkdtemp(join(tmpdir(), "tau-archives-"));
  const sources = published.map((name) => join(root, "packages", name));
  await execute("npm", ["pack", "--ignore-scripts", "--pack-destination", archives, ...sources]);
  for (const name of published) {
    const archive = readdirSync(archives).find((file) => new RegExp(`-${name}-\\d.*\\.tgz$`).test(file))!;
    await execute("tar", ["xzf", join(archives, archive), "-C", archives]);
    await cp(join(archives, "package"), join(directory, name), { recursive: true });
    await rm(join(archives, "package"), { recursive: true });
  }
  await rm(archives, { recursive: true });
}

/** The packages of npm that bring other runtimes, and the binary in that of the platform. */
const runtimes = {
  bun: { wanted: "bun@1.4.4", scope: "@oven", binary: join("bin", "bun") },
  deno: { wanted: "deno@2.9.6", scope: "@deno", binary: "deno" },
};

/** Finds the binary of another runtime, which npm installs once for all tests, or says why it cannot. */
export async function findRuntime(name: keyof typeof runtimes): Promise<{ path: string } | { missing: string }> {
  const { wanted, scope, binary } = runtimes[name];
  let missing: string | undefined;
  const make = async (directory: string) => {
    missing = await installFromRegistry(directory, wanted);
    if (missing !== undefined) throw new Error(missing);
  };
  try {
    const packages = join(await makeOnce(`runtime-${name}`, wanted, make), "node_modules", scope);
    return { path: join(packages, readdirSync(packages)[0]!, binary) };
  } catch (error) {
    if (missing !== undefined) return { missing };
    throw error;
  }
}

/** The archive that would be published. */
export async function archive(): Promise<string> {
  const directory = join(await installed(), "..", "..", "..");
  const name = (await readdir(directory)).find((name) => name.endsWith(".tgz"));
  return join(directory, name!);
}

export interface Started {
  child: ChildProcess;
  /** The output so far. */
  output: () => { out: string; err: string };
  /** Resolves when standard output matches, or when the program has ended. */
  until: (isMatch: (out: string) => boolean) => Promise<void>;
  ended: Promise<Ended>;
}

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  out: string;
  err: string;
}

export interface StartOptions {
  input?: string;
  /** Whether standard input stays open after that. */
  staysOpen?: boolean;
  env?: Record<string, string>;
  /** A command line before the program, for example `sh -c 'ulimit …; exec "$@"' sh`. */
  through?: readonly string[];
}

export async function start(
  { directory, agentDir }: Workspace,
  args: readonly string[],
  { input, staysOpen = false, env = {}, through = [] }: StartOptions = {},
): Promise<Started> {
  const program = join(await installed(), "dist", "tau.cjs");
  const [command, ...rest] = [...through, process.execPath, program, ...args];
  const child = spawn(command!, rest, {
    cwd: directory,
    env: { PATH: process.env["PATH"] ?? "", HOME: directory, XDG_CACHE_HOME: cacheHome, TAU_DIR: agentDir, ...env },
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let out = "";
  let err = "";
  const watchers = new Set<() => void>();
  child.stdout!.on("data", (chunk: Buffer) => {
    out += chunk.toString();
    for (const check of watchers) check();
  });
  child.stderr!.on("data", (chunk: Buffer) => void (err += chunk.toString()));
  if (staysOpen) child.stdin?.write(input ?? "");
  else child.stdin?.end(input);
  const ended = new Promise<Ended>((resolve) => {
    child.once("close", (code, signal) => resolve({ code, signal, out, err }));
  });
  const until = (isMatch: (text: string) => boolean) =>
    new Promise<void>((resolve) => {
      const check = () => {
        if (!isMatch(out)) return;
        watchers.delete(check);
        resolve();
      };
      watchers.add(check);
      void ended.then(() => resolve());
      check();
    });
  return { child, output: () => ({ out, err }), until, ended };
}

export const runPacked = async (
  workspace: Workspace,
  args: readonly string[],
  options?: StartOptions,
): Promise<Ended> => await (await start(workspace, args, options)).ended;

/** Sends a signal and measures the time until the end. */
export async function endWith({ child, ended }: Started, signal: NodeJS.Signals): Promise<Ended & { afterMs: number }> {
  const since = performance.now();
  child.kill(signal);
  const result = await ended;
  return { ...result, afterMs: performance.now() - since };
}

let sleeps = 0;

/** A command that differs from those of other tests in how long it sleeps. */
export const sleeping = (): string => `sleep ${30_000 + process.pid}.${++sleeps}`;

/** The processes whose command line has this text. A shell that runs one command becomes it, so its words are arguments. */
export function processesWith(text: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(join("/proc", pid, "cmdline"), "utf8")
          .replaceAll("\0", " ")
          .includes(text);
      } catch (error) {
        // The process has ended meanwhile.
        if (["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) return false;
        throw error;
      }
    })
    .map(Number);
}

/** Errors of npm if it cannot reach the registry. Any other error fails the test. */
const unreachable =
  /\b(?:ENOTCACHED|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|SELF_SIGNED_CERT_IN_CHAIN)\b/;

const timeoutMs = 100_000;

/**
 * Installs an archive, or a package by its name. Returns why the registry could not be reached, or undefined if the
 * installation succeeded.
 */
export async function installFromRegistry(directory: string, ...wanted: string[]): Promise<string | undefined> {
  const args = ["install", "--prefix", directory, "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];
  try {
    await execute("npm", [...args, "--fetch-retries=0", ...wanted], { cwd: directory, timeout: timeoutMs });
    return undefined;
  } catch (error) {
    const { stderr, killed } = error as { stderr: string; killed: boolean };
    if (killed) return `it took more than ${timeoutMs / 1_000} s`;
    const reason = unreachable.exec(stderr)?.[0];
    if (reason === undefined) throw error;
    return reason;
  }
}

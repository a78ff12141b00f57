/** The program as it is installed, as a child process. It is packed once for each state of the sources. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Workspace } from "../kit.ts";

const root = join(import.meta.dirname, "..", "..", "..", "..");
const store = join(root, "node_modules", ".cache", "tau", "packed");

/** Everything that the archive is made of. */
function fingerprint(): string {
  const hash = createHash("sha256");
  const sources = readdirSync(join(root, "packages")).flatMap((name) =>
    [join("packages", name, "src"), join("packages", name, "catalog"), join("packages", name, "package.json")].flatMap(
      below,
    ),
  );
  for (const file of [...sources, ...below("scripts"), "package-lock.json"].sort()) {
    if (!file.endsWith(".test.ts")) hash.update(file).update(readFileSync(join(root, file)));
  }
  return hash.digest("hex").slice(0, 16);
}

function below(path: string): string[] {
  const full = join(root, path);
  if (!existsSync(full)) return [];
  if (/\.\w+$/.test(path)) return [path];
  const found = readdirSync(full, { recursive: true, withFileTypes: true });
  return found.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name).slice(root.length + 1));
}

/**
 * Where the program was installed. The archive is unpacked as npm does it, beside copies of what it depends on: nothing
 * is asked of a registry, and nothing of the workspace can be reached from there.
 */
export async function installed(): Promise<string> {
  const print = fingerprint();
  const workspace = join(store, print);
  const program = join(workspace, "node_modules", "@tau", "cli");
  if (existsSync(program)) return program;
  await mkdir(store, { recursive: true });
  const fresh = await mkdtemp(join(store, "new-"));
  const said = execFileSync(process.execPath, [join(root, "scripts", "pack-cli.mjs"), fresh], { encoding: "utf8" });
  const scope = join(fresh, "node_modules", "@tau");
  await mkdir(scope, { recursive: true });
  execFileSync("tar", ["xzf", said.trim(), "-C", scope]);
  await rename(join(scope, "package"), join(scope, "cli"));
  const wanted = JSON.parse(readFileSync(join(scope, "cli", "npm-shrinkwrap.json"), "utf8")) as {
    packages: Record<string, unknown>;
  };
  for (const path of Object.keys(wanted.packages)) {
    if (path !== "" && existsSync(join(root, path))) await cp(join(root, path), join(fresh, path), { recursive: true });
  }
  for (const old of await readdir(store)) {
    // Another test file may have been faster, and uses it.
    if (!old.startsWith("new-") && old !== print) await rm(join(store, old), { recursive: true, force: true });
  }
  // Whoever comes second uses what is there.
  await rename(fresh, workspace).catch(() => rm(fresh, { recursive: true, force: true }));
  return program;
}

/** What would be published. */
export async function archive(): Promise<string> {
  const workspace = join(await installed(), "..", "..", "..");
  const name = (await readdir(workspace)).find((one) => one.endsWith(".tgz"));
  return join(workspace, name!);
}

export interface Started {
  child: ChildProcess;
  /** What it has said so far. */
  said: () => { out: string; err: string };
  /** Resolves when standard output has this, or when the program has ended. */
  until: (isThere: (out: string) => boolean) => Promise<void>;
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
  env?: Record<string, string>;
  /** What comes before the program, such as `sh -c 'ulimit …; exec "$@"' sh`. */
  through?: readonly string[];
}

export async function start(
  { directory, agentDir }: Workspace,
  args: readonly string[],
  { input, env = {}, through = [] }: StartOptions = {},
): Promise<Started> {
  const program = join(await installed(), "dist", "tau.cjs");
  const [command, ...rest] = [...through, process.execPath, program, ...args];
  const child = spawn(command!, rest, {
    cwd: directory,
    env: { PATH: process.env["PATH"] ?? "", HOME: directory, TAU_DIR: agentDir, ...env },
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let out = "";
  let err = "";
  const watchers = new Set<() => void>();
  child.stdout!.on("data", (chunk: Buffer) => {
    out += chunk.toString();
    for (const look of watchers) look();
  });
  child.stderr!.on("data", (chunk: Buffer) => void (err += chunk.toString()));
  child.stdin?.end(input);
  const ended = new Promise<Ended>((resolve) => {
    child.once("close", (code, signal) => resolve({ code, signal, out, err }));
  });
  const until = (isThere: (text: string) => boolean) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!isThere(out)) return;
        watchers.delete(look);
        resolve();
      };
      watchers.add(look);
      void ended.then(() => resolve());
      look();
    });
  return { child, said: () => ({ out, err }), until, ended };
}

export const runPacked = async (
  workspace: Workspace,
  args: readonly string[],
  options?: StartOptions,
): Promise<Ended> => await (await start(workspace, args, options)).ended;

/** Milliseconds from a signal to the end. */
export async function endWith({ child, ended }: Started, signal: NodeJS.Signals): Promise<Ended & { afterMs: number }> {
  const since = performance.now();
  child.kill(signal);
  const result = await ended;
  return { ...result, afterMs: performance.now() - since };
}

let sleeps = 0;

/** A command that can be told from those of other tests by how long it sleeps. */
export const sleeping = (): string => `sleep ${30_000 + process.pid}.${++sleeps}`;

/** The processes whose command line has this text. */
export function processesWith(text: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(join("/proc", pid, "cmdline"), "utf8").includes(text);
      } catch (error) {
        // It has ended meanwhile.
        if (["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) return false;
        throw error;
      }
    })
    .map(Number);
}

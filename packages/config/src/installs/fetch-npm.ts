/** Fetches packages with the user's npm, which knows the user's registry and keys. No script of a package is ever run. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isRecord, tryParseJson } from "@tau/ai/internal";
import { nodeFileSystem } from "@tau/tools/platform";
import { readWhole } from "@tau/tools/durable";
import { HarnessError } from "@tau/protocol";
import type { Fetched, FetchPorts } from "./fetch-ports.ts";
import type { LockedPackage } from "./lock-file.ts";
import { readManifest } from "./manifest.ts";
import type { NpmSource } from "./package-source.ts";
import { runProgram } from "./run-program.ts";

/**
 * The modules that tau gives to extensions are peers: npm must not bring second copies of them. Where files and the lock are
 * written is not left to the user's `.npmrc`, which may say for example `package-lock=false`.
 */
const options = [
  "--ignore-scripts",
  "--no-audit",
  "--no-fund",
  "--no-update-notifier",
  "--no-progress",
  "--no-global",
  "--location=project",
  "--install-strategy=hoisted",
  "--no-install-links",
  "--no-dry-run",
  "--save",
  "--package-lock",
  "--no-package-lock-only",
  "--lockfile-version=3",
  "--no-workspaces",
  "--omit=dev",
  "--legacy-peer-deps",
  "--loglevel=error",
];

type NpmPackages = Readonly<Record<string, unknown>>;

/**
 * Installs dependencies into `directory`, which is empty, as they are in `locked` if that is given. Returns the `packages`
 * of npm's lock. Nothing of a fetched package is in the directory before: a `.npmrc` there could name programs to run.
 */
export async function installDependencies(
  directory: string,
  { dependencies, locked }: { dependencies: Readonly<Record<string, string>>; locked: NpmPackages | undefined },
  { env, signal, before }: FetchPorts,
): Promise<NpmPackages> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const root = { name: "tau-package", version: "0.0.0", private: true, dependencies };
  await writeFile(join(directory, "package.json"), JSON.stringify(root));
  const lockFile = join(directory, "package-lock.json");
  if (locked) {
    const lock = { name: root.name, version: root.version, lockfileVersion: 3, requires: true, packages: locked };
    await writeFile(lockFile, JSON.stringify(lock));
  }
  const age = before && !locked ? [`--before=${before.toISOString()}`] : [];
  const argv = ["npm", locked ? "ci" : "install", ...options, ...age] as const;
  // Also for dependencies that are repositories.
  const gitEnv = { GIT_TERMINAL_PROMPT: "0", GIT_ALLOW_PROTOCOL: "https:ssh" };
  const outcome = await runProgram({ argv, cwd: directory, env: { ...env, ...gitEnv }, signal });
  if (outcome.kind === "failed") {
    throw new HarnessError("install_failed", formatFailure(outcome.reason, age.length > 0));
  }
  const lock = tryParseJson(((await readWhole(nodeFileSystem, lockFile)) ?? "{}").toString());
  const packages = isRecord(lock) ? lock["packages"] : undefined;
  if (!isRecord(packages)) throw new HarnessError("install_failed", "npm wrote no lock, so nothing was installed.");
  return packages;
}

/** Fetches a package and its dependencies. With `locked`, exactly what that says, or it fails. */
export async function fetchNpm(
  source: NpmSource,
  { directory, locked }: { directory: string; locked: LockedPackage | undefined },
  ports: FetchPorts,
): Promise<Fetched> {
  const { name } = source;
  const range = locked?.resolved ?? source.range ?? "latest";
  const wanted = { dependencies: { [name]: range }, locked: locked?.dependencies };
  const packages = await installDependencies(directory, wanted, ports);
  const root = join(directory, "node_modules", name);
  const manifest = readManifest(root);
  const entry = packages[`node_modules/${name}`];
  const { version, integrity } = isRecord(entry) ? entry : {};
  if (!manifest || typeof version !== "string" || manifest.version !== version) {
    throw new HarnessError("install_failed", `npm did not install ${name} as its lock says.`);
  }
  if (typeof integrity !== "string") {
    throw new HarnessError(
      "install_failed",
      `The registry gives no integrity hash of ${name} ${version}, so it is refused.`,
    );
  }
  return { root, manifest, locked: { resolved: version, integrity, dependencies: packages } };
}

const maxReasonCharacters = 2_000;
const maxMisfits = 5;

/** The last lines of npm are about its own log. */
function formatFailure(text: string, hasAgeLimit: boolean): string {
  const lines = text.split("\n").map((line) => line.replace(/^npm (error|ERR!) ?/, "").trim());
  // Its usage follows, and the advice to run npm.
  const misfits = lines.filter((line) => /^(Missing|Invalid): .* lock file/.test(line)).slice(0, maxMisfits);
  if (misfits.length > 0) {
    return `The dependencies in packages-lock.json do not fit it (${misfits.join("; ")}). Install it again by its name.`;
  }
  const printed = lines.filter((line) => line !== "" && !/^(code |A complete log|.*_logs)/.test(line));
  const reason = printed.join(" ").slice(-maxReasonCharacters);
  const isYoung = hasAgeLimit && /ETARGET|ENOVERSIONS|with a date before/.test(text);
  const advice = isYoung
    ? " Releases that are younger than the setting packageMinAgeDays says do not count. To install one all the same: --any-age"
    : "";
  return `npm failed: ${reason}${/[.!?]$/.test(reason) ? "" : "."}${advice}`;
}

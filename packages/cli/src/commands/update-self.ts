/** `tau update --self`: updates tau as it was installed, or says how. */
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { unlessMissing } from "@tau/tools/platform";
import { findInstallation, type Installation } from "../hosting/installation.ts";
import { type ExitCode, exitCodes } from "../process/exit-codes.ts";
import { version } from "../start/version.ts";
import type { Io } from "./command.ts";

type UpdatePlan =
  /** `manifest` is a file that names the version, if the program that is run does not print it. */
  | { kind: "run"; argv: readonly [string, ...string[]]; env?: Readonly<Record<string, string>>; manifest?: string }
  /** Tells a person what to do. */
  | { kind: "say"; text: string };

/** Notes of `install.sh` beside an archive that it installed. */
interface InstallNotes {
  /** Where the archive came from; undefined if it was a file. */
  address: string | undefined;
  /** The directory of the link to the program. */
  link: string | undefined;
}

const wanted = "@tau/cli@latest";
const npmOptions = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];

/** Pure. */
export function planUpdate(installation: Installation, notes: InstallNotes, isWindows: boolean): UpdatePlan {
  switch (installation.kind) {
    case "archive": {
      const { root, home } = installation;
      const script = join(root, "install.sh");
      const { address, link } = notes;
      if (home === undefined || address === undefined || link === undefined) {
        return {
          kind: "say",
          text: `tau was installed from an archive. Get a newer one, and run: sh ${script} ARCHIVE`,
        };
      }
      return { kind: "run", argv: ["sh", script, address], env: { TAU_HOME: home, TAU_BIN: link } };
    }
    case "npm-global": {
      const { prefix, modules } = installation;
      return planNpm(["npm", "install", "--global", "--prefix", prefix, ...npmOptions, wanted], modules, isWindows);
    }
    case "npm-directory": {
      const { directory, modules } = installation;
      return planNpm(["npm", "install", "--prefix", directory, ...npmOptions, wanted], modules, isWindows);
    }
    case "other-manager":
      return { kind: "say", text: `tau was installed by another package manager. Run: ${installation.command}` };
    case "npx":
      return { kind: "say", text: `npx runs tau without installing it. For the newest, run: npx ${wanted}` };
    case "clone":
      return {
        kind: "say",
        text: `tau runs from a clone. Run: git -C ${installation.root} pull. The next start builds it.`,
      };
    case "unknown":
      return { kind: "say", text: "It is not known how tau was installed. Install it again in the same way." };
  }
}

/** On Windows npm is a script of a shell, and cannot replace files that this process has open. */
function planNpm(argv: readonly [string, ...string[]], modules: string, isWindows: boolean): UpdatePlan {
  if (isWindows) return { kind: "say", text: `When tau has ended, run: ${argv.map(quote).join(" ")}` };
  return { kind: "run", argv, manifest: join(modules, "@tau", "cli", "package.json") };
}

const quote = (word: string): string => (/\s/.test(word) ? `"${word}"` : word);

/** Runs last where there is more to do: afterwards, files of this program that were not loaded yet are gone. */
export async function updateSelf(io: Io, installation = findInstallation()): Promise<ExitCode | void> {
  const plan = planUpdate(installation, await readNotes(installation), process.platform === "win32");
  if (plan.kind === "say") return io.out(`${plan.text}\n`);
  const { argv, env = {}, manifest } = plan;
  io.err(`${argv.map(quote).join(" ")}\n`);
  const problem = await run(argv, { ...io.env, ...env }, io);
  if (problem !== undefined) {
    io.err(`tau: tau was not updated: ${problem}. It is ${version}, as before.\n`);
    return io.signal.aborted ? exitCodes.interrupted : exitCodes.failed;
  }
  if (manifest === undefined) return undefined;
  const { version: installed } = JSON.parse(await readFile(manifest, "utf8")) as { version: string };
  io.out(installed === version ? `tau ${version} is the newest.\n` : `tau is now ${installed} (was ${version}).\n`);
}

async function readNotes(installation: Installation): Promise<InstallNotes> {
  const { home } = { home: undefined, ...installation };
  const read = async (name: string) =>
    home === undefined ? undefined : (await unlessMissing(readFile(join(home, name), "utf8")))?.trim();
  return { address: await read("address"), link: await read("link") };
}

/** Why it failed; undefined if it did not. */
const run = (argv: readonly [string, ...string[]], env: NodeJS.ProcessEnv, io: Io): Promise<string | undefined> =>
  new Promise((resolve) => {
    const [program, ...args] = argv;
    const child = spawn(program, args, { cwd: io.cwd, env, stdio: ["ignore", "pipe", "pipe"], signal: io.signal });
    child.stdout.on("data", (chunk: Buffer) => io.out(chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => io.err(chunk.toString()));
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) => resolve(code === 0 ? undefined : `${program} ended with ${code ?? signal}`));
  });

/** Finds out whether the sandbox works here, and if not, why. */
import { spawn as nodeSpawn } from "node:child_process";
import { getErrorMessage } from "@tau/ai/internal";
import type { SandboxSettings } from "./settings.ts";
import type { SandboxState } from "./state.ts";
import { findProgram } from "./programs.ts";
import { hasSystemCallFilter } from "./system-calls.ts";

/** The programs that the sandbox is made with. */
interface SandboxPrograms {
  readonly bwrap: string;
  /** Absent: a sandbox for each command. */
  readonly helper?: string | undefined;
}

type Unavailable = SandboxState & { kind: "unavailable" };

const turnOff = 'or set sandbox.mode to "off" to run commands without one';

/** Undefined: nothing is known that would keep it from working. Pure but for `platform` and `arch`, which are given. */
export function findObstacle(workspace: string, platform: string, arch: string): Unavailable | undefined {
  if (platform !== "linux") {
    const tries = platform === "darwin" ? "Set sandbox.seatbelt to true to try that of macOS, run" : "Run";
    return {
      kind: "unavailable",
      reason: "The sandbox works on Linux only.",
      fix: `${tries} tau in a Linux container or virtual machine, ${turnOff}.`,
    };
  }
  if (!hasSystemCallFilter(arch)) {
    return {
      kind: "unavailable",
      reason: `The sandbox does not know the system calls of this processor (${arch}).`,
      fix: `Use an x64 or arm64 machine, ${turnOff}.`,
    };
  }
  if (workspace === "/") {
    return {
      kind: "unavailable",
      reason: "The working directory is the root of the file system, so the sandbox would protect nothing.",
      fix: "Start tau in a project's directory.",
    };
  }
  return undefined;
}

export function findPrograms(workspace: string): SandboxPrograms | Unavailable {
  const bwrap = findProgram("bwrap", workspace);
  if (bwrap !== undefined) return { bwrap };
  return {
    kind: "unavailable",
    reason: "bubblewrap (bwrap) is not installed.",
    fix: `Install the package bubblewrap, ${turnOff}.`,
  };
}

/** Words of bubblewrap and the kernel, and what helps. The first that matches applies. */
const fixes: readonly (readonly [RegExp, string])[] = [
  [
    /uid map|new namespace|clone|unshare/i,
    "Allow user namespaces for ordinary users: set the sysctl kernel.unprivileged_userns_clone to 1, user.max_user_namespaces above 0, and on Ubuntu kernel.apparmor_restrict_unprivileged_userns to 0",
  ],
  [/loopback|RTM_NEWADDR|RTM_NEWLINK/i, 'Allow network namespaces in this container, or set sandbox.network to "all"'],
  [/proc|mount|pivot/i, "Allow mounts in this container (for example with --security-opt and --cap-add of docker)"],
];

/** Root uses no user namespaces, and may make the others unless a container takes that right away. */
const rootFixes: typeof fixes = [
  [
    /new namespace|clone|unshare/i,
    "Allow namespaces in this container (with docker: --cap-add SYS_ADMIN --security-opt seccomp=unconfined)",
  ],
  ...fixes,
];

/** Reads what bubblewrap said. Pure. */
export function explainFailure(complaint: string, isRoot: boolean): Unavailable {
  const text = complaint.trim().replaceAll(/\s*\n\s*/g, "; ");
  const known = isRoot ? rootFixes : fixes;
  const [, fix] = known.find(([pattern]) => pattern.test(text)) ?? [undefined, "See what bubblewrap says"];
  return {
    kind: "unavailable",
    reason: `bubblewrap does not work here: ${text || "it ended without a message"}.`,
    fix: `${fix}, ${turnOff}.`,
  };
}

/** The outcome of a trial: bubblewrap's words if it does not work. */
type Trial = (SandboxState & { kind: "works" }) | { readonly kind: "failed"; readonly complaint: string };

/** Trials, shared by all sessions of this process. */
const trials = new Map<string, Promise<Trial>>();

/** Tries what needs the most rights, without any mounts of a project. */
export async function tryBwrap(programs: SandboxPrograms, { network }: SandboxSettings): Promise<SandboxState> {
  const key = JSON.stringify([programs.bwrap, programs.helper, network === "all"]);
  const trial = await (trials.get(key) ?? remember(key, tryPrograms(programs, network === "all")));
  return trial.kind === "failed" ? explainFailure(trial.complaint, isRoot()) : trial;
}

function remember(key: string, trial: Promise<Trial>): Promise<Trial> {
  trials.set(key, trial);
  // A failure may pass: a person installs or allows what was missing.
  void trial.then(({ kind }) => kind === "works" || trials.delete(key));
  return trial;
}

const isRoot = (): boolean => process.getuid?.() === 0;

/** The code with which the helper ends where the system does not let it check connections. */
const withoutGuard = 75;

/** Older versions of bubblewrap do not know the option that limits a file system in memory. */
async function tryPrograms(programs: SandboxPrograms, keepsNetwork: boolean): Promise<Trial> {
  const trial = await tryWith(programs, { keepsNetwork, limitsMemoryFiles: true });
  const isTooOld = trial.kind === "failed" && /unknown option --size/i.test(trial.complaint);
  return isTooOld ? await tryWith(programs, { keepsNetwork, limitsMemoryFiles: false }) : trial;
}

interface TrialOptions {
  readonly keepsNetwork: boolean;
  readonly limitsMemoryFiles: boolean;
}

async function tryWith({ bwrap, helper }: SandboxPrograms, options: TrialOptions): Promise<Trial> {
  const { limitsMemoryFiles } = options;
  if (helper !== undefined) {
    const { code } = await runInside(bwrap, options, [helper, "try"]);
    if (code === 0 || code === withoutGuard)
      return { kind: "works", with: "helper", guardsSockets: code === 0, limitsMemoryFiles };
  }
  const { code, complaint } = await runInside(bwrap, options, ["true"]);
  if (code !== 0) return { kind: "failed", complaint };
  return { kind: "works", with: "bwrap", guardsSockets: false, limitsMemoryFiles };
}

function runInside(
  bwrap: string,
  { keepsNetwork, limitsMemoryFiles }: TrialOptions,
  program: readonly string[],
): Promise<{ code: number | null; complaint: string }> {
  const args = [
    ...(isRoot() ? [] : ["--unshare-user"]),
    ...(keepsNetwork ? [] : ["--unshare-net"]),
    ..."--unshare-pid --unshare-ipc --ro-bind / / --dev /dev --proc /proc".split(" "),
    ...(limitsMemoryFiles ? ["--size", "4096", "--tmpfs", "/dev/shm"] : []),
    "--",
    ...program,
  ];
  return new Promise((resolve) => {
    const child = nodeSpawn(bwrap, args, { cwd: "/", env: {}, stdio: ["ignore", "ignore", "pipe"] });
    const pieces: Buffer[] = [];
    child.stderr.on("data", (piece: Buffer) => pieces.push(piece));
    child.once("error", (error) => resolve({ code: null, complaint: getErrorMessage(error) }));
    child.once("close", (code) => resolve({ code, complaint: Buffer.concat(pieces).toString() }));
  });
}

/** A session for somebody else: it shares nothing with the other sessions of the process. */
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Closers } from "@tau/ai/internal";
import { SharedResources } from "@tau/extensions/internal";
import { HarnessError } from "@tau/protocol";
import { findObstacle, findPrograms, tryBwrap } from "@tau/sandbox/internal";
import type { SandboxSettings } from "@tau/sandbox";
import { LiveSessions } from "../agent-session/live-sessions.ts";
import type { AgentSessionParams } from "./params.ts";

/** The belongings of one tenant: a session and its children. */
export interface Tenant {
  /** Removed with the session. Only this tenant's tools can read `outputs`, and nobody's can read the rest. */
  directory: string;
  /** Long results and outputs of commands. */
  outputs: string;
  resources: SharedResources;
  sessions: LiveSessions;
}

/** The environment of a tenant's commands if none is given. The sandbox has temporary files of its own. */
export const tenantEnv: Readonly<Record<string, string>> = {
  PATH: "/usr/local/bin:/usr/bin:/bin",
  HOME: "/tmp",
  LANG: "C.UTF-8",
};

export async function openTenant(closers: Closers): Promise<Tenant> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "tau-tenant-")));
  closers.add(() => rm(directory, { recursive: true, force: true }));
  const outputs = join(directory, "outputs");
  await mkdir(outputs);
  return { directory, outputs, resources: new SharedResources(), sessions: new LiveSessions() };
}

/** Whether the commands of a tenant have a sandbox. Each process tries that once. */
export async function canSandbox(cwd: string, settings: SandboxSettings): Promise<boolean> {
  if (findObstacle(cwd, process.platform, process.arch)) return false;
  const programs = findPrograms(cwd);
  return "bwrap" in programs && (await tryBwrap(programs, settings)).kind === "works";
}

/** Parameters that would share something, with what to do instead. */
const refused: readonly (readonly [string, (params: AgentSessionParams) => boolean, string])[] = [
  ["cwd", ({ cwd }) => cwd === undefined, "is missing: name the directory of the tenant"],
  [
    "use",
    ({ use, agentDir }) => agentDir === undefined && (use?.includes("user") ?? false),
    "would read the files of the user who runs this program: name an `agentDir` of the tenant",
  ],
  ["projectTrusted", ({ projectTrusted }) => projectTrusted === true, "would execute what the tenant has written"],
  ["fileAuthority", ({ fileAuthority }) => fileAuthority === "person", "would let prompts name any file"],
  ["additionalDirectories", ({ additionalDirectories: list }) => hasAny(list), "are outside `cwd`"],
  ["readablePaths", ({ readablePaths }) => hasAny(readablePaths), "are outside `cwd`"],
  ["documents", ({ documents }) => documents !== undefined, "are outside `cwd`"],
  ["commandTerminal", ({ commandTerminal }) => commandTerminal !== undefined, "has no sandbox"],
  ["sandbox.allowedPaths", ({ sandbox }) => hasAny(sandbox?.allowedPaths), "are outside `cwd`"],
  ["sandbox.mode", ({ sandbox: { mode = "required" } = {} }) => mode !== "required", "is always `required`"],
  [
    "extensions",
    ({ extensions: { paths, packages, discovers } = {} }) => hasAny(paths) || hasAny(packages) || discovers === true,
    "can only be `factories`, which are code of this program",
  ],
];

const hasAny = (list: readonly unknown[] | undefined): boolean => (list?.length ?? 0) > 0;

/** Throws `invalid_input` for a parameter that a tenant cannot have. */
export function checkTenantParams(params: AgentSessionParams): void {
  if (params.isolation !== "tenant") return;
  const problem = refused.find(([, isRefused]) => isRefused(params));
  if (!problem) return;
  const [name, , why] = problem;
  throw new HarnessError("invalid_input", `A session with isolation "tenant" cannot be created: \`${name}\` ${why}.`);
}

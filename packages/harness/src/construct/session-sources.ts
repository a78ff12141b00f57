/** Decides whose files a session reads: nobody's, unless the caller says so. */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Closers } from "@tau/ai/internal";
import { defaultAgentDir } from "@tau/config/settings";
import type { AgentSessionParams } from "./params.ts";
import { openTenant, type Tenant, tenantEnv } from "./tenant.ts";

export interface SessionSources {
  readsUser: boolean;
  readsProject: boolean;
  /** The user's directory; if nothing of the user is read, an empty one that is removed with the session. */
  agentDir: string;
  env: Readonly<Record<string, string | undefined>>;
  tenant: Tenant | undefined;
}

/** The parameters that say which of the user's or the program's data is meant. */
const namingParams = [
  "agentDir",
  "settingsManager",
  "resourceLoader",
  "sessionManager",
  "storage",
  "sessionId",
  "authStorage",
] as const satisfies (keyof AgentSessionParams)[];

/** Returns what the parameters ask for. An `agentDir` says that the user's files are there. */
const resolveUse = ({ use = [], agentDir }: Pick<AgentSessionParams, "use" | "agentDir">) => ({
  readsUser: agentDir !== undefined || use.includes("user"),
  readsProject: use.includes("project"),
});

/** Whether the caller said nothing about what is read, so that it may expect the files of the user. */
const saysNothing = (params: AgentSessionParams): boolean =>
  params.use === undefined &&
  params.isolation === undefined &&
  namingParams.every((name) => params[name] === undefined);

export async function openSources(params: AgentSessionParams, closers: Closers): Promise<SessionSources> {
  const tenant = params.isolation === "tenant" ? await openTenant(closers) : undefined;
  const { env = tenant ? tenantEnv : process.env } = params;
  const use = resolveUse(params);
  return { ...use, agentDir: await openAgentDir(params, { closers, tenant, ...use }), env, tenant };
}

async function openAgentDir(
  params: AgentSessionParams,
  { closers, tenant, readsUser }: Pick<SessionSources, "tenant" | "readsUser"> & { closers: Closers },
): Promise<string> {
  if (readsUser) return resolve(params.agentDir ?? defaultAgentDir());
  if (tenant) {
    const agentDir = join(tenant.directory, "agent");
    await mkdir(agentDir);
    return agentDir;
  }
  const agentDir = await mkdtemp(join(tmpdir(), "tau-session-"));
  closers.add(() => rm(agentDir, { recursive: true, force: true }));
  return agentDir;
}

/** A sentence for programs that were written when sessions read the user's files by themselves. Undefined if there are none. */
export function describeUnread(params: AgentSessionParams): string | undefined {
  const directory = defaultAgentDir();
  if (!saysNothing(params) || !existsSync(directory)) return undefined;
  const all =
    'Pass use: ["user", "project"] for what the program tau has: settings, stored keys, AGENTS.md, skills and a log';
  return `This session reads nothing of ${directory} and of the project, because the program did not ask for it. ${all} in a file. Pass use: [] to leave it so without this notice.`;
}

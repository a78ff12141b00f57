/** Which paths are open to the tools of a session. */
import { homedir, tmpdir } from "node:os";
import { join, relative, resolve, sep } from "node:path";
import { findNamedCredentials, type NamedCredential } from "@tau/sandbox/internal";
import type { PathRules } from "@tau/policy";
import { realPathRules } from "@tau/policy/internal";
import { isWithin } from "@tau/tools/platform";
import { getBlobDirectory } from "@tau/tools/storage";
import { getReadablePath, getRealPath } from "@tau/config/internal";
import { defaultAgentDir } from "@tau/config/settings";
import type { Services } from "../agent-session/services.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { SessionBase } from "./open-services.ts";
import type { AgentSessionParams } from "./params.ts";

interface PathRulesParts extends SessionBase {
  params: AgentSessionParams;
  services: Services;
  sessionManager: SessionManager;
}

/** Returns where tools may work, and where they may only read. */
export async function createPathRules(parts: PathRulesParts): Promise<Required<PathRules>> {
  const { cwd, projectDirectory, agentDir, readsUser, tenant, ids, params, services, sessionManager } = parts;
  const { createFiles } = await import("@tau/tools");
  const files = createFiles({ ids });
  const home = homedir();
  const skills = services.resources.resources.skills.map(getReadablePath);
  const sessionFile = sessionManager.getSessionFile();
  const results = sessionFile === undefined ? [] : [getBlobDirectory(sessionFile)];
  const own = ["skills", "agents", "prompts", "resources"].map((name) => join(agentDir, name));
  const { directory, examples } = params.documents ?? {};
  const documents = [directory, examples].flatMap((path) =>
    path === undefined ? [] : [resolve(projectDirectory, path)],
  );
  const added = [...services.settings.get().additionalDirectories, ...(params.additionalDirectories ?? [])];
  const rules = {
    // In this order: the sandbox takes those that were added.
    roots: (tenant ? [cwd] : [cwd, tmpdir(), ...added]).map((directory) => resolve(projectDirectory, directory)),
    readable: [
      ...own,
      ...(readsUser ? [join(home, ".agents", "skills")] : []),
      ...skills,
      ...results,
      ...documents,
      ...(params.readablePaths ?? []),
      ...(tenant ? [tenant.outputs] : []),
    ],
    deniesOutside: tenant !== undefined,
    closed: cwd === projectDirectory ? [] : findShared(cwd),
    home,
    agentDir,
    named: [
      ...findNamedCredentials({ env: { ...process.env, ...services.settings.get().shellEnv }, cwd, home }),
      ...(readsUser ? [] : findUnreadDirectory(cwd, home)),
    ],
  };
  return await realPathRules(rules, (path) => files.realPath(path));
}

/** Closes the user's directory where it is not at its usual place, whose credentials are known. Nothing in it is the session's. */
function findUnreadDirectory(cwd: string, home: string): NamedCredential[] {
  const path = defaultAgentDir();
  if (isWithin(home, path) || isWithin(path, cwd) || isWithin(path, home)) return [];
  const all = new Set([path, getRealPath(path)]);
  return [...all].map((each) => ({ variable: "TAU_DIR", value: path, path: each, paths: undefined }));
}

/**
 * Finds the directory among the temporary files that a child has a part of. The other parts belong to other children, though
 * tools may work anywhere else among the temporary files.
 */
function findShared(cwd: string): string[] {
  const [name] = relative(tmpdir(), cwd).split(sep);
  return isWithin(tmpdir(), cwd) && name ? [join(tmpdir(), name)] : [];
}

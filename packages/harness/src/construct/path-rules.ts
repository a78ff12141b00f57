/** Which paths are open to the tools of a session. */
import { homedir, tmpdir } from "node:os";
import { join, relative, resolve, sep } from "node:path";
import { findNamedCredentials, type NamedCredential } from "@tau/sandbox/internal";
import { realPathRules, WorkspaceRoots } from "@tau/policy/internal";
import { HarnessError } from "@tau/protocol";
import { isWithin } from "@tau/tools/platform";
import { getBlobDirectory } from "@tau/tools/storage";
import { getReadablePath, getRealPath } from "@tau/config/internal";
import { defaultAgentDir } from "@tau/config/settings";
import type { Notices } from "../agent-session/notices.ts";
import type { Services } from "../agent-session/services.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { SessionBase } from "./open-services.ts";
import type { AgentSessionParams } from "./params.ts";

interface PathRulesParts extends SessionBase {
  params: AgentSessionParams;
  services: Services;
  sessionManager: SessionManager;
  notices: Notices;
}

/**
 * Opens what says where tools may work, and where they may only read. Throws `invalid_input` for a directory of the parameters that
 * cannot be in a workspace. One of the settings is left out, with a notice.
 */
export async function openWorkspaceRoots(parts: PathRulesParts): Promise<WorkspaceRoots> {
  const { cwd, projectDirectory, agentDir, readsUser, tenant, ids, params, services, sessionManager, notices } = parts;
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
  const rules = {
    roots: tenant ? [cwd] : [cwd, tmpdir()],
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
  const roots = new WorkspaceRoots(await realPathRules(rules, (path) => files.realPath(path)));
  if (tenant) return roots;
  const add = async (directory: string): Promise<string | undefined> => {
    const path = resolve(projectDirectory, directory);
    // One that does not exist stays as it is: no opened file has a real path below it.
    const realPath = await files.realPath(path).catch(() => path);
    const decision = roots.decide(realPath);
    if (decision.kind === "added") roots.add(realPath);
    return decision.kind === "refused" ? decision.reason : undefined;
  };
  for (const directory of services.settings.get().additionalDirectories) {
    const reason = await add(directory);
    if (reason !== undefined) notices.add("settings", `The setting additionalDirectories: ${reason}`);
  }
  for (const directory of params.additionalDirectories ?? []) {
    const reason = await add(directory);
    if (reason !== undefined) throw new HarnessError("invalid_input", reason);
  }
  return roots;
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

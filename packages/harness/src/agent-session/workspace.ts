/** The tools of a session and the files they stand on. */
import { mkdtemp, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Clock, type Ids } from "@tau/ai";
import { joinName } from "../join-name.ts";
import { harnessToolNames } from "../pipeline/harness-tools.ts";
import { createNameMatcher, findUnknownTools } from "../pipeline/tool-patterns.ts";
import type { Files, ToolCallContext, Tools } from "@tau/tools";
import type { AgentSessionParams } from "./params.ts";
import type { UsedKeys } from "../auth/used-keys.ts";
import { HarnessError } from "../errors.ts";
import type { GivenTool } from "../pipeline/layer.ts";
import { credentialReason } from "../policy/default-policy.ts";
import type { Grants } from "../policy/grants.ts";
import { createGuard, createPathGuard } from "../policy/guard.ts";
import { type PathRules, pathStanding, realPathRules } from "../policy/paths.ts";
import type { SecretBroker } from "../policy/secret-broker.ts";
import type { ResourceLoader } from "../resources/resource-loader.ts";
import { getReadablePath } from "../resources/skills.ts";
import { createLateSandbox } from "../sandbox/late-sandbox.ts";
import { getTemporaryDirectories, withTemporaryFiles } from "../sandbox/temporary-files.ts";
import type { SandboxSettings } from "../sandbox/settings.ts";
import type { SessionSandboxOptions } from "../sandbox/session-sandbox.ts";
import type { SettingsManager } from "../settings/settings-manager.ts";

interface RulesPlace {
  cwd: string;
  agentDir: string;
  resources: ResourceLoader;
  sessionFile: string | undefined;
  settings: Pick<SettingsManager, "get">;
}

/** Where tools may work, and where they may only read. */
export function pathRules(
  { additionalDirectories = [] }: AgentSessionParams,
  { cwd, agentDir, resources, sessionFile, settings }: RulesPlace,
): PathRules {
  const home = homedir();
  const skills = resources.resources.skills.map(getReadablePath);
  const results = sessionFile === undefined ? [] : [getResults(sessionFile)];
  const own = ["skills", "agents", "prompts", "resources"].map((name) => joinName(agentDir, name));
  const added = [...settings.get().additionalDirectories, ...additionalDirectories];
  return {
    // In this order: `getSandboxOptions` takes those that were added.
    roots: [cwd, tmpdir(), ...added].map((directory) => resolve(cwd, directory)),
    readable: [...own, join(home, ".agents", "skills"), ...skills, ...results],
    home,
    agentDir,
  };
}

interface GroundParts {
  cwd: string;
  rules: PathRules;
  grants: Grants;
  settings: SettingsManager;
  sandbox: SandboxSettings;
  createIsSecret: UsedKeys["createIsSecret"];
  secrets: SecretBroker;
  getSessionEnv: () => Readonly<Record<string, string | undefined>>;
  clock: Clock;
  ids: Ids;
}

/** The tools and the files they stand on. A person may mention what they like, but no credentials. */
export async function createGround(parts: GroundParts) {
  const { cwd, rules: given, grants, settings, secrets, createIsSecret, clock, ids } = parts;
  const { createFiles, createGuardedFiles, createTools } = await import("@tau/tools");
  const free = createFiles({ ids });
  const rules = await realPathRules(given, (path) => free.realPath(path));
  const isNoCredential = (path: string, access: "read" | "write") => pathStanding(path, access, rules) !== "denied";
  const mentions = createFiles({ ids, guard: createGuard({ isAllowed: isNoCredential, explain: credentialReason }) });
  const guardFiles = createGuardedFiles({ ids });
  const { shellPath, shellCommandPrefix, shellEnv, images, limits } = settings.get();
  const timeoutMs = limits.bashMs ?? parts.sandbox.timeoutMs;
  const tools = createTools({
    cwd,
    files: guardFiles(createPathGuard(rules, grants)),
    clock,
    ids,
    ...(shellPath !== undefined && { shell: shellPath }),
    ...(shellCommandPrefix !== undefined && { commandPrefix: shellCommandPrefix }),
    ...(timeoutMs !== undefined && { commandTimeoutMs: timeoutMs }),
    ...(limits.maxBashMs !== undefined && { maxCommandTimeoutMs: limits.maxBashMs }),
    env: secrets.getInherited(),
    addedEnv: shellEnv,
    getSessionEnv: () => ({ ...secrets.getDisclosed(), ...parts.getSessionEnv() }),
    createIsSecret,
    resizesImages: images.autoResize,
    writeNeedsRead: settings.get().tools.writeNeedsRead,
  });
  const sandbox = parts.sandbox.mode === "off" ? undefined : createLateSandbox(() => getSandboxOptions(parts, rules));
  const [workspace, , ...added] = rules.roots;
  const temporary = { directories: getTemporaryDirectories(), shared: [cwd, workspace!, ...added] };
  const asCommandsSee = (seen: Files) =>
    sandbox ? withTemporaryFiles(seen, { ...temporary, findInner: () => sandbox.findTemporary() }) : seen;
  const createCallContext = (toolCallId: string): ToolCallContext => ({
    files: asCommandsSee(guardFiles(createPathGuard(rules, grants.forCall(toolCallId)))),
    spawn: tools.spawn,
    env: secrets.give(grants.listNames("env", toolCallId)),
  });
  return { files: { free, mentions }, tools, rules, createCallContext, sandbox, shell: shellPath };
}

/** Commands may change the same directories as the file tools, except for those with everybody's temporary files. */
function getSandboxOptions(
  { cwd, sandbox, clock, ids }: GroundParts,
  { roots, home, agentDir, readable }: Required<PathRules>,
): SessionSandboxOptions {
  const [, , ...added] = roots;
  const settings = { ...sandbox, allowedPaths: [...sandbox.allowedPaths, ...added] };
  return { cwd, settings, home, agentDir, readable, clock, ids };
}

export function builtInTool(tools: Tools, name: string): GivenTool {
  const { byName } = tools;
  if (Object.hasOwn(byName, name)) return byName[name as keyof typeof byName];
  throw new HarnessError("invalid_input", findUnknownTools([name], [...Object.keys(byName), ...harnessToolNames])[0]!);
}

/**
 * A pattern stands for the default tools that it matches, and if there are none, for any other built-in tools. A name in
 * the result is one of `harnessToolNames`: the session makes these tools.
 */
export function builtInTools(tools: Tools, pattern: string): (GivenTool | string)[] {
  const matches = createNameMatcher([pattern]);
  const filter = (all: readonly GivenTool[]) => all.filter(({ name }) => matches(name));
  const candidates = [filter(tools.defaults), filter(Object.values(tools.byName)), harnessToolNames.filter(matches)];
  return candidates.find(({ length }) => length > 0) ?? [builtInTool(tools, pattern)];
}

/** Named like everything that belongs to the session, so that it goes when the session does. */
const getResults = (sessionFile: string): string => `${sessionFile}.results`;

/**
 * Where the whole of a result is kept of which the model saw a part: beside the session's file, because the log says where
 * it is; for a session in memory among the temporary files, and as long as that.
 */
export function resultsDirectory(sessionFile: string | undefined) {
  if (sessionFile !== undefined) {
    return { get: async () => getResults(sessionFile), remove: async () => {} };
  }
  let made: Promise<string> | undefined;
  return {
    get: () => (made ??= mkdtemp(join(tmpdir(), "tau-results-"))),
    async remove() {
      if (made) await rm(await made, { recursive: true, force: true });
    },
  };
}

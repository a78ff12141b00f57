/** The tools of a session, the files they work on, and where their commands run. */
import { join, resolve } from "node:path";
import type { Model } from "@tau/ai";
import type { ExtensionSessionPort, Feature } from "@tau/extensions";
import type { Files, Limits, ToolCallContext, ToolsOptions } from "@tau/tools";
import { type UsedKeys, getReadablePath, getRealPath } from "@tau/config/internal";
import { createPathGuard, createPersonGuard, type SecretBroker } from "@tau/policy/internal";
import {
  isSandboxMissing,
  createLateSandbox,
  createPlanSandbox,
  getTemporaryDirectories,
  withTemporaryFiles,
  findHelper,
} from "@tau/sandbox/internal";
import type { SessionSandboxOptions, SandboxSettings } from "@tau/sandbox";
import { getPlace } from "./open-extension-slot.ts";
import { openSyntax } from "./open-syntax.ts";
import { getSessionEnv } from "./session-env.ts";
import type { SessionSetup } from "./session-setup.ts";

export type Workspace = Awaited<ReturnType<typeof createWorkspace>>;

/** The tools and the files they work on. A person may mention what they like, but no credentials. */
export async function createWorkspace(
  setup: SessionSetup,
  { keys, secrets, features }: { keys: UsedKeys; secrets: SecretBroker; features: readonly Feature[] },
) {
  const { cwd, agentDir, tenant, sandboxSettings, clock, ids, roots, grants, permissions, closers, getSession } = setup;
  const { rules } = roots;
  const isPlanning = () => permissions.isPlanning;
  const { settings, resources } = setup.services;
  const { createFiles, createGuardedFiles, createTools } = await import("@tau/tools");
  const free = createFiles({ ids });
  const mentions = createFiles({ ids, guard: createPersonGuard(rules) });
  const guardDisk = createGuardedFiles({ ids });
  const { wrapFiles = (files: Files) => files } = setup.params;
  const guardFiles: typeof guardDisk = (guard) => wrapFiles(guardDisk(guard));
  const { shellPath, shellCommandPrefix, shellEnv, images, limits } = settings.get();
  const timeoutMs = limits.bashMs ?? sandboxSettings.timeoutMs;
  // Its parser is started by a call of a tool, so that `spawn` exists by then.
  const syntax = openSyntax({
    features,
    place: getPlace(setup),
    spawn: (command, args, options = {}) => spawn(command, args, options),
  });
  const tools = createTools({
    cwd,
    syntax,
    files: guardFiles(createPathGuard(rules, grants, isPlanning)),
    clock,
    ids,
    ...(shellPath !== undefined && { shell: shellPath }),
    ...(shellCommandPrefix !== undefined && { commandPrefix: shellCommandPrefix }),
    ...(timeoutMs !== undefined && { commandTimeoutMs: timeoutMs }),
    limits: getMemoryLimits(sandboxSettings),
    ...(limits.maxBashMs !== undefined && { maxCommandTimeoutMs: limits.maxBashMs }),
    env: secrets.getInherited(),
    addedEnv: shellEnv,
    getSessionEnv: () => ({ ...secrets.getDisclosed(), ...getSessionEnv(getSession()) }),
    createIsSecret: keys.createIsSecret,
    resizesImages: images.autoResize,
    getImageLimits: () => toImageLimits(getSession().model?.inputLimits),
    writeNeedsRead: settings.get().tools.writeNeedsRead,
    ...(tenant && { outputDirectory: tenant.outputs }),
    journalDirectory: join(agentDir, "changes"),
    findTerminalProgram: async () => findHelper(),
  });
  const restoredPaths = await tools.recoverChanges();
  const sandbox =
    sandboxSettings.mode === "off"
      ? undefined
      : createPlanSandbox({
          usual: createLateSandbox(() => getSandboxOptions(setup, sandboxSettings)),
          readOnly: createLateSandbox(() => getReadOnlyOptions(setup, sandboxSettings)),
          isPlanning,
        });
  if (sandbox) closers.add(() => sandbox.close());
  closers.add(() => tools.dispose());
  if (syntax) closers.add(() => syntax.close());
  // Skills that appear later may be read without a question too.
  const allowSkills = () => {
    for (const path of resources.resources.skills.map(getReadablePath)) {
      grants.grant({ capability: "read", target: { kind: "path", path: getRealPath(path) } }, "session");
    }
  };
  closers.add(resources.subscribe(allowSkills));
  const temporary = {
    directories: getTemporaryDirectories(),
    getShared: () => [cwd, rules.roots[0]!, ...roots.added],
  };
  const asCommandsSee = (seen: Files) =>
    sandbox ? withTemporaryFiles(seen, { ...temporary, findInner: () => sandbox.findTemporary() }) : seen;
  const { commandTerminal } = setup.params;
  // Only where the person has turned the sandbox off: a command that is allowed outside for once is still contained here.
  const terminal = commandTerminal && sandboxSettings.mode === "off" ? { terminal: commandTerminal } : {};
  const createCallContext = (toolCallId: string): ToolCallContext => ({
    files: asCommandsSee(guardFiles(createPathGuard(rules, grants.forCall(toolCallId), isPlanning))),
    spawn: tools.spawn,
    env: secrets.give(grants.listNames("env", toolCallId)),
    ...terminal,
  });
  /** A program has a sandbox of its own, which ends with it, since it may be shared with other sessions, or that of the session. */
  const spawn: ExtensionSessionPort["spawn"] = async (
    command,
    args,
    { cwd: directory, inherits, env, sandbox: own, maxMemoryMb },
  ) => {
    const mode = own === false && !tenant ? "off" : sandboxSettings.mode;
    const joined = own === "session" ? sandbox : own && "session" in own ? sandbox?.join(own.session) : undefined;
    const { readablePaths = [], ...changes } = own && own !== "session" && !("session" in own) ? own : {};
    const settings = { ...sandboxSettings, ...changes, mode };
    const apart =
      mode === "off" || joined ? undefined : createLateSandbox(() => getSandboxOptions(setup, settings, readablePaths));
    const inherited = await tools.getCommandEnv();
    const kept = Array.isArray(inherits) ? pick(inherited, inherits) : inherited;
    const request = {
      argv: [command, ...args] as const,
      cwd: resolve(cwd, directory ?? ""),
      env: { ...kept, ...env },
    };
    const limits = maxMemoryMb === undefined ? {} : getProgramLimits(maxMemoryMb);
    const close = async () => await apart?.close();
    const program = await tools.startProgram(request, joined ?? apart, limits).catch(async (error: unknown) => {
      await close();
      throw error;
    });
    return { ...program, exit: program.exit.finally(close) };
  };
  return {
    spawn,
    files: { free, mentions },
    tools,
    restoredPaths,
    createCallContext,
    sandbox,
    sandboxSettings,
    shell: shellPath,
    isSandboxMissing: sandbox !== undefined && isSandboxMissing(cwd, sandboxSettings),
  };
}

const pick = (env: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));

/** Commands may change the same directories as the file tools, except for those with everybody's temporary files. */
function getSandboxOptions(
  { cwd, tenant, env, clock, ids, roots }: SessionSetup,
  sandbox: SandboxSettings,
  readablePaths: readonly string[] = [],
): SessionSandboxOptions {
  const { home, agentDir, named } = roots.rules;
  const readable = [...roots.rules.readable, ...readablePaths];
  // A link that has taken the place of one may lead anywhere.
  const added = roots.added.filter((path) => getRealPath(path) === path);
  const settings = { ...sandbox, allowedPaths: [...sandbox.allowedPaths, ...added] };
  const hidesMachine = tenant !== undefined;
  return { cwd, settings, home, agentDir, named, readable, hidesMachine, env, clock, ids };
}

/** The sandbox of plan mode. Where it does not work, commands are not run. */
function getReadOnlyOptions(setup: SessionSetup, sandbox: SandboxSettings): SessionSandboxOptions {
  const settings = { ...sandbox, mode: "required", network: "none", ports: [], allowedPaths: [] } as const;
  return { ...getSandboxOptions(setup, settings), isReadOnly: true };
}

/** A single process gets no more than twice the limit, so that it cannot use up the memory between two checks. */
function getMemoryLimits({ maxMemoryMb }: SandboxSettings): Partial<Limits> {
  const memoryAdvice = "Only the user can allow more, with the setting sandbox.maxMemoryMb.";
  if (maxMemoryMb === undefined) return { memoryAdvice };
  return { memoryAdvice, ...toMemoryLimits(maxMemoryMb) };
}

/** Node reserves hundreds of megabytes that it does not use, so that a small limit would keep it from starting. */
function getProgramLimits(maxMemoryMb: number): Partial<Limits> {
  const { memoryBytes, processDataBytes } = toMemoryLimits(maxMemoryMb);
  return { memoryBytes, processDataBytes: processDataBytes + 1024 ** 3, memoryAdvice: undefined };
}

const toMemoryLimits = (megabytes: number) => {
  const memoryBytes = megabytes * 1024 * 1024;
  return { memoryBytes, processDataBytes: 2 * memoryBytes };
};

/** Limits of a model for images that are read. Its bytes are those of the base64. */
function toImageLimits(inputLimits: Model["inputLimits"]): ReturnType<NonNullable<ToolsOptions["getImageLimits"]>> {
  const { maxBytes, ...resize } = inputLimits?.images?.resize ?? {};
  return { ...resize, ...(maxBytes !== undefined && { maxBytes: Math.floor(maxBytes / 4) * 3 }) };
}

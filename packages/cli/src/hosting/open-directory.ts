/** Opens hosts for the sessions of a directory from the flags: the one place where the parts of the program are connected. */
import { readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { systemIds } from "@tau/ai";
import { withoutUndefined } from "@tau/ai/internal";
import type { AgentSession } from "@tau/harness";
import type { SettingsManager } from "@tau/config/settings";
import { HarnessError } from "@tau/protocol";
import type {
  ChildProgram,
  ExtensionPlace,
  ExtensionProblem,
  ExtensionsParams,
  LocateSharedModule,
} from "@tau/extensions";
import { allFeatures } from "@tau/features";
import { createHost, type Host, type HostOptions } from "@tau/harness/host";
import { isBuiltinEntry } from "@tau/config/internal";
import { openSettings } from "./open-settings.ts";
import { readNamedFile } from "@tau/config/resources";
import { getAgentDir, isOffline } from "./agent-dir.ts";
import type { SessionOptions } from "../start/session-options.ts";
import { isInteractive } from "../process/ask.ts";
import type { Io } from "../commands/command.ts";
import { findInstalled } from "./installed-file.ts";
import { locatePiModule } from "./pi-package.ts";
import { loadSharedModule } from "./shared-modules.ts";
import { readRunSettings } from "./run-settings.ts";
import { UsageError } from "../process/errors.ts";

interface DirectoryChoices {
  /** Whether changes of settings and resources are followed. */
  watch: boolean;
  /** The surface that shows the sessions, unless the flags name one. */
  surface: "tui" | "print";
  /** Whether a person is asked about a project, where there is one. */
  asksTrust: boolean;
}

interface DirectoryOpener {
  readonly extensions: ReturnType<typeof createExtensionsParams>;
  openSettings(cwd: string): Promise<SettingsManager>;
  /** `params` are what its sessions are created with, besides what the flags say. The host closes the settings. */
  openHost(cwd: string, settings: SettingsManager, params: Partial<HostOptions["params"]>): Host;
}

/** Throws `HarnessError` for flags that name what does not exist. */
export async function createDirectoryOpener(
  options: SessionOptions,
  io: Io,
  { watch, surface, asksTrust }: DirectoryChoices,
): Promise<DirectoryOpener> {
  const agentDir = getAgentDir(io);
  const toPath = (path: string) => resolve(io.cwd, path);
  const extensions = createExtensionsParams(options, io, toPath);
  const askExtensions = async (place: ExtensionPlace) => {
    const { askProjectTrust } = await import("@tau/extensions");
    const mode = options.mode === "json" || options.mode === "rpc" ? options.mode : surface;
    const report = ({ extension, message }: ExtensionProblem) => io.err(`tau: ${extension}: ${message}\n`);
    return await askProjectTrust(extensions, { ...place, ids: systemIds, mode, report });
  };
  const runSettings = await readRunSettings(options, io);
  await mustExist(options, { cwd: io.cwd, agentDir }, toPath);
  const readPrompt = (value: string) => readTextOrFile(value, { cwd: io.cwd, agentDir });
  const systemPrompt = options.systemPrompt === undefined ? undefined : await readPrompt(options.systemPrompt);
  const appendSystemPrompt = await Promise.all(options.appendSystemPrompt.map(readPrompt));
  const [directory, examples] = [findInstalled("docs"), findInstalled("examples")];
  const documents = directory !== undefined && {
    documents: { directory, ...(examples !== undefined && { examples }) },
  };
  return {
    extensions,
    async openSettings(cwd) {
      const manager = await openSettings({
        cwd,
        agentDir,
        watch,
        runSettings,
        ...(options.approve !== undefined && { projectTrusted: options.approve }),
        askExtensions: (settings) => askExtensions({ cwd, agentDir, settings }),
        ...(asksTrust &&
          canAnswer(options, io) && {
            askTrust: async (waiting) => (await import("./ask-trust.ts")).askTrust(io, { cwd, agentDir, waiting }),
          }),
      });
      manager.mustBeWhole();
      if (surface === "tui" && asksTrust && canAnswer(options, io) && !options.noExtensions) {
        const { findGlobalPackages } = await import("@tau/config/installs");
        const asking = findGlobalPackages(agentDir).length > 0 ? await import("./ask-global-packages.ts") : undefined;
        await asking?.askGlobalPackages(io, { cwd, agentDir, settings: manager });
      }
      return manager;
    },
    openHost(cwd, settingsManager, params) {
      return createHost({
        params: {
          cwd,
          agentDir,
          settingsManager,
          resources: toResources(options, settingsManager, toPath),
          watch,
          ...toParams(options, toPath),
          ...(systemPrompt !== undefined && { systemPrompt }),
          appendSystemPrompt,
          ...documents,
          extensions,
          features: options.noMcp ? allFeatures.filter(({ name }) => name !== "mcp") : allFeatures,
          ...params,
        },
        agentDir,
        prepare: createPrepare(options),
        onDispose: () => settingsManager.close(),
      });
    },
  };
}

type Params = HostOptions["params"];

function toResources(
  { noSkills, noPromptTemplates, noContextFiles, skills: skillPaths, promptTemplates }: SessionOptions,
  settings: SettingsManager,
  toPath: (path: string) => string,
): NonNullable<Params["resources"]> {
  return {
    lists: () => {
      const { skills, prompts } = settings.get();
      return { skills: noSkills ? [] : skills, prompts: noPromptTemplates ? [] : prompts };
    },
    skillPaths: skillPaths.map(toPath),
    discoverSkills: !noSkills,
    promptPaths: promptTemplates.map(toPath),
    discoverPrompts: !noPromptTemplates,
    ...(noContextFiles && { contextFiles: "none" }),
  };
}

/** Turns flags into parameters: the model, the tools and what they may do. Pure. */
function toParams(options: SessionOptions, toPath: (path: string) => string): Partial<Params> {
  const roles = withoutUndefined({ smol: options.smol, slow: options.slow, plan: options.planModel });
  const { agent, model, role, provider, models, thinking, tools, excludeTools, policy, permissionMode, sandbox } =
    options;
  return {
    ...(agent !== undefined && { agentName: agent }),
    ...(model !== undefined && { model }),
    ...(role !== undefined && { model: `@${role.replace(/^@/, "")}` }),
    ...(Object.keys(roles).length > 0 && { roles }),
    ...(provider !== undefined && { provider }),
    ...(models && { models }),
    ...(thinking !== undefined && { thinkingLevel: thinking as "off" }),
    ...(options.noBuiltinTools && { tools: [] }),
    ...(tools && (isChange(tools) ? { defaultTools: tools } : { tools, allowedTools: tools })),
    ...(options.noTools && { tools: [], allowedTools: [] }),
    ...(excludeTools && { excludedTools: excludeTools }),
    additionalDirectories: options.addDir.map(toPath),
    ...(options.sequentialTools && { toolExecution: "sequential" }),
    ...(policy !== undefined && { policyProfile: policy }),
    ...(permissionMode !== undefined && { permissionMode }),
    ...(options.planMode && { planMode: true }),
    ...(sandbox !== undefined && { sandbox: { mode: sandbox } }),
  };
}

/** Whether the list changes the default tools: `+x,-y`. Pure. */
export const isChange = (tools: readonly string[]): boolean =>
  tools.length > 0 && tools.every((name) => /^[+-]/.test(name));

async function mustExist(
  options: SessionOptions,
  place: Omit<ExtensionPlace, "settings">,
  toPath: (path: string) => string,
): Promise<void> {
  const { skills, promptTemplates, extensions } = options;
  for (const path of [...skills, ...promptTemplates]) {
    if (!(await findStats(toPath(path)))) throw createMissingError(path);
  }
  if (extensions.length > 0) {
    const { existsNamed } = await import("@tau/extensions");
    const missing = extensions.find((path) => !isBuiltinEntry(path) && !existsNamed(path, place));
    if (missing !== undefined) throw createMissingError(missing);
  }
  for (const path of options.addDir) {
    if (!(await findStats(toPath(path)))?.isDirectory()) {
      throw new UsageError("invalid_input", `There is no directory ${path}, which --add-dir names.`);
    }
  }
}

const createMissingError = (path: string): UsageError =>
  new UsageError("invalid_input", `There is no file or directory ${path}.`);

/**
 * Creates the parameters about extensions. `flags` is filled when the extensions are loaded, because they define which
 * there are.
 */
function createExtensionsParams(
  { extensions, namedPackages = [], noExtensions, offline }: SessionOptions,
  io: Io,
  toPath: (path: string) => string,
) {
  return {
    discovers: !noExtensions,
    // Parts of the program are there anyway.
    paths: extensions.filter((path) => !isBuiltinEntry(path)).map(toPath),
    packages: namedPackages,
    flags: new Map<string, string | boolean>(),
    allowNetwork: !offline && !isOffline(io),
    loadShared: loadSharedModule,
    locateShared: createLocator(io),
    findChild,
  } satisfies ExtensionsParams;
}

/** Finds files for pi's modules. They are beside the program, so there are none where the sources run as they are. */
function createLocator(io: Io): LocateSharedModule {
  return (name, importer) => {
    const modules = findInstalled("pi-modules");
    return modules && locatePiModule(name, importer, { modules, cache: join(getAgentDir(io), "cache", "pi-modules") });
  };
}

/** The program of isolated extensions is a file beside that of tau. It is not there where the sources run as they are. */
function findChild(): ChildProgram | undefined {
  const path = findInstalled("extension-child.cjs");
  return path === undefined ? undefined : { path, readable: [] };
}

/** Whether a person can answer questions: the other modes are for programs. */
export const canAnswer = ({ mode }: SessionOptions, io: Io): boolean => mode === "text" && isInteractive(io);

/** `--api-key` is for the provider of the first session's model, in every session of this process. */
function createPrepare({ apiKey }: SessionOptions): (session: AgentSession) => void {
  let keyOwner: { provider: string; baseUrl: string } | undefined;
  return ({ authStorage, model }) => {
    if (apiKey === undefined) return;
    keyOwner ??= model;
    if (!keyOwner) throw new HarnessError("no_model", "--api-key needs a provider: add --model or --provider.");
    authStorage.setRuntimeApiKey(keyOwner.provider, apiKey, keyOwner.baseUrl || undefined);
  };
}

const findStats = (path: string) => stat(path).catch(() => undefined);

/** If the value is the path of a file, its content. A shell passes a pipe for `<(command)`. */
async function readTextOrFile(value: string, directories: { cwd: string; agentDir: string }): Promise<string> {
  if (value.length >= 4_096 || value.includes("\n")) return value;
  const path = resolve(directories.cwd, value);
  const stats = await findStats(path);
  if (stats?.isFIFO()) return await readFile(path, "utf8");
  if (stats?.isFile()) return await readNamedFile(path, directories);
  if (!looksLikeFile(value)) return value;
  const advice = "If it is a text, write a blank into it and end it with a period.";
  throw new UsageError("invalid_input", `There is no file ${path}. ${advice}`);
}

/** A misspelled path must not become the prompt. */
const looksLikeFile = (value: string): boolean => /\.(md|txt)$/i.test(value) || /^[^\s]*\/[^\s]*$/.test(value);

/** pi's services of a directory: the parts of a session, created before the session itself. */
import { join } from "node:path";
import type { ThinkingLevel } from "@tau/agent";
import type { Model } from "@tau/ai";
import type { ToolDefinition } from "@tau/extensions";
import { getAgentDir, type SessionManager } from "@tau/pi/internal";
import {
  createAgentSession,
  type CreateAgentSessionOptions,
  type CreateAgentSessionResult,
} from "../agent-session/create-agent-session.ts";
import type { ResourceSource } from "../agent-session/resource-source.ts";
import type { ScopedModel, SessionStartEvent } from "../agent-session/types.ts";
import { ModelRuntime } from "../models/model-runtime.ts";
import { DefaultResourceLoader, type DefaultResourceLoaderOptions } from "../resources/resource-loader.ts";
import { SettingsManager } from "../settings/settings-manager.ts";

/** A problem that does not keep the services or the session from being used. */
export interface AgentSessionRuntimeDiagnostic {
  type: "info" | "warning" | "error";
  message: string;
}

export interface CreateAgentSessionServicesOptions {
  cwd: string;
  agentDir?: string;
  settingsManager?: SettingsManager;
  modelRuntime?: ModelRuntime;
  modelRuntimeSignal?: AbortSignal;
  /** Values of flags that extensions register, by name. */
  extensionFlagValues?: ReadonlyMap<string, boolean | string>;
  resourceLoaderOptions?: Omit<DefaultResourceLoaderOptions, "cwd" | "agentDir" | "settingsManager">;
}

export interface AgentSessionServices {
  cwd: string;
  agentDir: string;
  modelRuntime: ModelRuntime;
  settingsManager: SettingsManager;
  resourceLoader: ResourceSource;
  diagnostics: AgentSessionRuntimeDiagnostic[];
}

export interface CreateAgentSessionFromServicesOptions extends Pick<
  CreateAgentSessionOptions,
  "excludeTools" | "noTools"
> {
  services: AgentSessionServices;
  sessionManager: SessionManager;
  sessionStartEvent?: SessionStartEvent;
  model?: Model;
  thinkingLevel?: ThinkingLevel;
  scopedModels?: ScopedModel[];
  tools?: string[];
  customTools?: ToolDefinition[];
}

export async function createAgentSessionServices(
  options: CreateAgentSessionServicesOptions,
): Promise<AgentSessionServices> {
  const { cwd, agentDir = getAgentDir(), modelRuntimeSignal: signal } = options;
  const settingsManager = options.settingsManager ?? SettingsManager.create(cwd, agentDir);
  const modelRuntime =
    options.modelRuntime ??
    (await ModelRuntime.create({
      authPath: join(agentDir, "auth.json"),
      modelsPath: join(agentDir, "models.json"),
      ...(signal && { signal }),
    }));
  const resourceLoader = new DefaultResourceLoader({
    ...options.resourceLoaderOptions,
    cwd,
    agentDir,
    settingsManager,
  });
  await resourceLoader.reload();
  const { errors, extensions, runtime } = resourceLoader.getExtensions();
  const known = new Set(extensions.flatMap(({ flags }) => [...flags.keys()]));
  const unknown = [...(options.extensionFlagValues ?? [])].filter(([name, value]) => {
    if (known.has(name)) runtime.flagValues.set(name, value);
    return !known.has(name);
  });
  const modelsProblem = modelRuntime.getError();
  return {
    cwd,
    agentDir,
    modelRuntime,
    settingsManager,
    resourceLoader,
    diagnostics: [
      ...(modelsProblem === undefined ? [] : [toDiagnostic("warning", modelsProblem)]),
      ...errors.map(({ path, error }) => toDiagnostic("error", `The extension ${path} could not be loaded: ${error}`)),
      ...unknown.map(([name]) => toDiagnostic("error", `No extension has the flag --${name}.`)),
    ],
  };
}

const toDiagnostic = (type: AgentSessionRuntimeDiagnostic["type"], message: string): AgentSessionRuntimeDiagnostic => ({
  type,
  message,
});

export async function createAgentSessionFromServices({
  services,
  ...options
}: CreateAgentSessionFromServicesOptions): Promise<CreateAgentSessionResult> {
  const { cwd, agentDir, modelRuntime, settingsManager, resourceLoader } = services;
  return await createAgentSession({ ...options, cwd, agentDir, modelRuntime, settingsManager, resourceLoader });
}

/** pi's `createAgentSession`: a session from what is given, and defaults for the rest. */
import { join } from "node:path";
import type { AgentOptions, AgentTool, ThinkingLevel } from "@tau/agent";
import { type Model, streamSimple } from "@tau/ai";
import type { ToolDefinition } from "@tau/extensions";
import { convertToLlm, sessionDirectory } from "@tau/harness/session";
import { Agent, getAgentDir, getDefaultStreamFn, SessionManager } from "@tau/pi/internal";
import { AuthStorage } from "../auth/auth-storage.ts";
import type { LoadExtensionsResult } from "../extensions/extension.ts";
import type { ExtensionRunner } from "../extensions/runner.ts";
import { ModelRuntime } from "../models/model-runtime.ts";
import { ModelRegistry } from "../models/model-registry.ts";
import { DefaultResourceLoader } from "../resources/resource-loader.ts";
import { SettingsManager } from "../settings/settings-manager.ts";
import { AgentSession } from "./agent-session.ts";
import { blockImages } from "./block-images.ts";
import type { ResourceSource } from "./resource-source.ts";
import { changeTools, isToolChange } from "./tool-filter.ts";
import { allToolNames, defaultToolNames } from "./tool-set.ts";
import type { AgentSessionConfig, ScopedModel, SessionStartEvent } from "./types.ts";

export interface CreateAgentSessionOptions {
  cwd?: string;
  agentDir?: string;
  /** Default: that of `authStorage` and `modelRegistry`. */
  modelRuntime?: ModelRuntime;
  authStorage?: AuthStorage;
  modelRegistry?: ModelRegistry;
  /** Default: that of the session, else of the settings, else the first with a key. */
  model?: Model;
  /** Default: that of the session, else of the settings, else `medium`. */
  thinkingLevel?: ThinkingLevel;
  scopedModels?: ScopedModel[];
  /**
   * Tools, which extensions may add to; or the names of all tools that the session has, where `*` stands for any text; or
   * changes of the default tools, such as `+grep` and `-bash`. Default: read, bash, edit and write.
   */
  tools?: (AgentTool | string)[];
  /** Names of tools that the session does not have, where `*` stands for any text. */
  excludeTools?: string[];
  /** Without any tool, or without the default ones. Has no effect beside `tools`. */
  noTools?: "all" | "builtin";
  customTools?: ToolDefinition[];
  resourceLoader?: ResourceSource;
  sessionManager?: SessionManager;
  settingsManager?: SettingsManager;
  /** Sent to extensions when they are bound. */
  sessionStartEvent?: SessionStartEvent;
}

export interface CreateAgentSessionResult {
  session: AgentSession;
  extensionsResult: LoadExtensionsResult;
  /** Set if the model of the session cannot be used any more. */
  modelFallbackMessage?: string;
}

export async function createAgentSession(options: CreateAgentSessionOptions = {}): Promise<CreateAgentSessionResult> {
  const { cwd = process.cwd(), agentDir = getAgentDir() } = options;
  const modelRuntime = options.modelRuntime ?? ModelRuntime.fromRegistry(createRegistry(agentDir, options));
  const modelRegistry = modelRuntime.registry;
  const settingsManager = options.settingsManager ?? SettingsManager.create(cwd, agentDir);
  const sessionManager = options.sessionManager ?? SessionManager.create(cwd, sessionDirectory(cwd, agentDir));
  const resourceLoader = options.resourceLoader ?? (await loadResources({ cwd, agentDir, settingsManager }));
  const context = sessionManager.buildSessionContext();
  const hasHistory = context.messages.length > 0;
  const stored =
    hasHistory && context.model ? modelRegistry.find(context.model.provider, context.model.modelId) : undefined;
  const model = options.model ?? stored ?? chooseModel(modelRegistry, settingsManager);
  const hasLevel = sessionManager.getBranch().some(({ type }) => type === "thinking_level_change");
  const level =
    options.thinkingLevel ??
    (hasHistory && hasLevel ? context.thinkingLevel : settingsManager.getDefaultThinkingLevel?.());
  const thinkingLevel = (model?.reasoning ? (level ?? "medium") : "off") as ThinkingLevel;
  const extensionRunnerRef: { current?: ExtensionRunner } = {};
  const agent = new Agent({
    initialState: { ...(model && { model }), thinkingLevel, messages: context.messages, tools: [], systemPrompt: "" },
    convertToLlm: (messages) => {
      const converted = convertToLlm(messages);
      return settingsManager.getBlockImages?.() ? blockImages(converted) : converted;
    },
    transformContext: async (messages) => (await extensionRunnerRef.current?.emitContext(messages)) ?? messages,
    onPayload: async (payload) => (await extensionRunnerRef.current?.emitBeforeProviderRequest(payload)) ?? payload,
    onResponse: async ({ status, headers }) => {
      await extensionRunnerRef.current?.emit({ type: "after_provider_response", status, headers });
    },
    streamFn: (requestModel, context, requestOptions) => {
      const send = getDefaultStreamFn() ?? streamSimple;
      const onHeaders = async (headers: Record<string, string | null>) =>
        void (await extensionRunnerRef.current?.emitBeforeProviderHeaders(headers));
      return send(requestModel, context, { ...requestOptions, onHeaders });
    },
    getApiKey: (provider) => modelRegistry.getApiKeyForProvider(provider),
    sessionId: sessionManager.getSessionId(),
    ...getAgentSettings(settingsManager),
  });
  if (!hasHistory && model) sessionManager.appendModelChange(model.provider, model.id);
  if (!hasHistory || !hasLevel) sessionManager.appendThinkingLevelChange(thinkingLevel);
  const session = new AgentSession({
    agent,
    sessionManager,
    settingsManager,
    cwd,
    modelRuntime,
    resourceLoader,
    extensionRunnerRef,
    ...(options.sessionStartEvent && { sessionStartEvent: options.sessionStartEvent }),
    ...(options.scopedModels && { scopedModels: options.scopedModels }),
    ...(options.customTools && { customTools: options.customTools }),
    ...getToolChoice(options, settingsManager),
  });
  const lost = hasHistory && context.model && !stored && !options.model ? context.model : undefined;
  const fallback = lost && `Could not restore model ${lost.provider}/${lost.modelId}. Using ${model?.id ?? "none"}.`;
  return {
    session,
    extensionsResult: resourceLoader.getExtensions(),
    ...(fallback && { modelFallbackMessage: fallback }),
  };
}

/** Settings that are not set keep the defaults of the agent. */
function getAgentSettings(settings: SettingsManager): Partial<AgentOptions> {
  const values = {
    steeringMode: settings.getSteeringMode?.(),
    followUpMode: settings.getFollowUpMode?.(),
    transport: settings.getTransport?.(),
    thinkingBudgets: settings.getThinkingBudgets?.(),
  };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

function createRegistry(agentDir: string, { authStorage, modelRegistry }: CreateAgentSessionOptions): ModelRegistry {
  if (modelRegistry) return modelRegistry;
  const storage = authStorage ?? AuthStorage.create(join(agentDir, "auth.json"));
  return new ModelRegistry(storage, join(agentDir, "models.json"));
}

type ToolChoice = Pick<
  AgentSessionConfig,
  "initialActiveToolNames" | "baseToolsOverride" | "allowedToolNames" | "excludedToolNames"
>;

function getToolChoice(
  { tools, excludeTools, noTools }: CreateAgentSessionOptions,
  settings: SettingsManager,
): ToolChoice {
  const excluded = excludeTools && { excludedToolNames: excludeTools };
  const own = tools?.filter((tool) => typeof tool !== "string") ?? [];
  if (tools && own.length > 0) {
    const names = tools.map((tool) => (typeof tool === "string" ? tool : tool.name));
    const baseToolsOverride = Object.fromEntries(own.map((tool) => [tool.name, tool]));
    return { initialActiveToolNames: names, baseToolsOverride, ...excluded };
  }
  const names = tools as readonly string[] | undefined;
  if (names && !isToolChange(names)) {
    const initial = names.some((name) => name.includes("*")) ? allToolNames : names;
    return { initialActiveToolNames: [...initial], allowedToolNames: names, ...excluded };
  }
  if (!names && noTools === "all") return { initialActiveToolNames: [], allowedToolNames: [] };
  if (!names && noTools === "builtin") return { initialActiveToolNames: [], ...excluded };
  const configured = (settings.getDefaultTools?.() as string[] | undefined) ?? defaultToolNames;
  const defaults = isToolChange(configured) ? changeTools(defaultToolNames, configured) : configured;
  return { initialActiveToolNames: changeTools(defaults, names ?? []), ...excluded };
}

async function loadResources(options: {
  cwd: string;
  agentDir: string;
  settingsManager: SettingsManager;
}): Promise<ResourceSource> {
  const loader = new DefaultResourceLoader(options);
  await loader.reload();
  return loader;
}

function chooseModel(registry: ModelRegistry, settings: SettingsManager): Model | undefined {
  const provider = settings.getDefaultProvider?.() as string | undefined;
  const id = settings.getDefaultModel?.() as string | undefined;
  const preferred = provider !== undefined && id !== undefined ? registry.find(provider, id) : undefined;
  return preferred && registry.hasConfiguredAuth(preferred) ? preferred : registry.getAvailable()[0];
}

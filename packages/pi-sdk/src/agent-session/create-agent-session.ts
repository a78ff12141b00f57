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
import { ModelRegistry } from "../models/model-registry.ts";
import { DefaultResourceLoader } from "../resources/resource-loader.ts";
import { SettingsManager } from "../settings/settings-manager.ts";
import { AgentSession } from "./agent-session.ts";
import { blockImages } from "./block-images.ts";
import type { ResourceSource } from "./resource-source.ts";
import type { ScopedModel } from "./types.ts";

export interface CreateAgentSessionOptions {
  cwd?: string;
  agentDir?: string;
  authStorage?: AuthStorage;
  modelRegistry?: ModelRegistry;
  /** Default: that of the session, else of the settings, else the first with a key. */
  model?: Model;
  /** Default: that of the session, else of the settings, else `medium`. */
  thinkingLevel?: ThinkingLevel;
  scopedModels?: ScopedModel[];
  /** Tools, or their names. Default: read, bash, edit and write. */
  tools?: (AgentTool | string)[];
  customTools?: ToolDefinition[];
  resourceLoader?: ResourceSource;
  sessionManager?: SessionManager;
  settingsManager?: SettingsManager;
}

export interface CreateAgentSessionResult {
  session: AgentSession;
  extensionsResult: LoadExtensionsResult;
  /** Set if the model of the session cannot be used any more. */
  modelFallbackMessage?: string;
}

export async function createAgentSession(options: CreateAgentSessionOptions = {}): Promise<CreateAgentSessionResult> {
  const { cwd = process.cwd(), agentDir = getAgentDir() } = options;
  const authStorage = options.authStorage ?? AuthStorage.create(join(agentDir, "auth.json"));
  const modelRegistry = options.modelRegistry ?? new ModelRegistry(authStorage, join(agentDir, "models.json"));
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
    modelRegistry,
    resourceLoader,
    extensionRunnerRef,
    ...(options.scopedModels && { scopedModels: options.scopedModels }),
    ...(options.customTools && { customTools: options.customTools }),
    ...(options.tools && getToolChoice(options.tools)),
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

function getToolChoice(tools: readonly (AgentTool | string)[]) {
  const names = tools.map((tool) => (typeof tool === "string" ? tool : tool.name));
  const own = tools.filter((tool) => typeof tool !== "string");
  const baseToolsOverride = Object.fromEntries(own.map((tool) => [tool.name, tool]));
  return { initialActiveToolNames: names, ...(own.length > 0 && { baseToolsOverride }) };
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

/** The session as an extension in a process of its own sees it: everything is asked of the host. */
import type { AgentTool } from "@tau/agent";
import type { Model } from "@tau/ai";
import type { ExecResult } from "../../api/api.ts";
import type { ModelAccess } from "../../api/model-access.ts";
import type { ExtensionSessionPort } from "../../api/session-port.ts";
import type { SessionReader } from "../../api/session-reader.ts";
import { withTextArguments } from "../../api/text-arguments.ts";
import { describeProvider } from "./describe.ts";
import { createChildUi } from "./ui.ts";
import type { HostLink } from "./link.ts";
import type { NeedsTrust } from "./needs-trust.ts";
import type { RunSignals } from "./run-signals.ts";
import { filterOfType } from "../../providers/filter-of-type.ts";

interface SessionPortParts {
  link: HostLink;
  needsTrust: NeedsTrust;
  signals: RunSignals;
}

export function createChildSession({ link, needsTrust, signals }: SessionPortParts): ExtensionSessionPort {
  const read = (method: string, ...args: unknown[]) => link.read(method, args) as never;
  const act = (method: string, ...args: unknown[]) => link.callSync(method, args) as never;
  const call = (method: string, ...args: unknown[]) => link.call(method, args) as Promise<never>;
  const begin = (method: string, ...args: unknown[]) => link.begin(method, args) as Promise<never>;
  const ui = withTextArguments(createChildUi(link, needsTrust));
  return {
    get cwd() {
      return read("cwd") as string;
    },
    get mode() {
      return read("mode") as ExtensionSessionPort["mode"];
    },
    ui,
    reader: createChildReader(read),
    modelRegistry: createChildModels(read, needsTrust),

    getModel: () => read("getModel"),
    setModel: (model) => call("setModel", { provider: model.provider, id: model.id }),
    getScopedModels: () => read("getScopedModels"),
    getThinkingLevel: () => read("getThinkingLevel"),
    setThinkingLevel: (level) => act("setThinkingLevel", level),
    getPermissionMode: () => read("getPermissionMode"),
    setPlanMode: async () => {
      throw needsTrust.refuse("tau.setPlanMode, which changes what the model may do");
    },

    isIdle: () => read("isIdle"),
    isProjectTrusted: () => read("isProjectTrusted"),
    getSignal: () => signals.get(read("getRun")),
    abort: () => act("abort"),
    hasPendingMessages: () => read("hasPendingMessages"),
    shutdown: () => act("shutdown"),
    getContextUsage: () => read("getContextUsage"),
    compact: (instructions) => call("compact", instructions),
    getSystemPrompt: () => read("getSystemPrompt"),
    getSystemPromptOptions: () => read("getSystemPromptOptions"),
    getSettings: () => read("getSettings"),

    sendMessage: (message, options) => call("sendMessage", message, options),
    sendUserMessage: (content, options) => call("sendUserMessage", content, options),
    appendEntry: (customType, data) => begin("appendEntry", customType, data),
    setSessionName: (name, { ifUnnamed = false } = {}) =>
      ifUnnamed ? begin("setSessionName", name, { ifUnnamed }) : begin("setSessionName", name),
    setLabel: (entryId, label) => begin("setLabel", entryId, label),

    exec: (command, args, { signal, ...options }) =>
      link.call("exec", [command, args, options], { signal }) as Promise<ExecResult>,
    spawn: async () => {
      throw needsTrust.refuse("tau.spawn, which starts a program that keeps running");
    },
    openChild: async () => {
      throw needsTrust.refuse("tau.openChild, which starts another session");
    },
    // It has no children to wait for, and no files of the session.
    getChildrenSignal: () => new AbortController().signal,
    whileWaiting: (work) => work(),
    keepText: async () => {
      throw needsTrust.refuse("tau.keepText, which writes a file beside the session");
    },
    keepImage: async () => {
      throw needsTrust.refuse("tau.keepImage, which writes a file beside the session");
    },
    getPersonWaitMs: () => 0,
    getAgents: () => call("getAgents"),
    requestAccess: async () => {
      throw needsTrust.refuse("tau.requestAccess, since what it does is judged by itself");
    },
    audit: async () => {
      throw needsTrust.refuse("tau.audit, since the host writes down what it does");
    },
    getActiveTools: () => read("getActiveTools"),
    getAllTools: () => read("getAllTools"),
    findTools: () => call("findTools"),
    setActiveTools: (names) => act("setActiveTools", names),
    // The host notices it with the registration.
    refreshTools: () => {},
    getCallableTools: () =>
      (read("getCallableTools") as Omit<AgentTool, "execute">[]).map((tool) => ({
        ...tool,
        execute: () => Promise.reject(needsTrust.refuse("calling a tool without `ctx.executeTool`")),
      })),
    executeTool: (callerId, name, args, { signal, onUpdate }) =>
      link.call("executeTool", [callerId, name, args], { signal, onProgress: onUpdate }) as Promise<never>,
    getCommands: () => read("getCommands"),

    // At once, so that its models can be chosen in the next line.
    registerProvider(name, config) {
      for (const { provider } of describeProvider(name, config, needsTrust)) act("registerProvider", name, provider);
    },
    unregisterProvider: (name) => act("unregisterProvider", name),

    waitForIdle: () => call("waitForIdle"),
    reload: () => call("reload"),
    replace: {
      newSession: ({ setup, withSession, ...options } = {}) =>
        setup || withSession ? refuseFunctions(needsTrust) : call("newSession", options),
      fork: (entryId, { withSession, ...options } = {}) =>
        withSession ? refuseFunctions(needsTrust) : call("fork", entryId, options),
      switchSession: (path, { withSession } = {}) =>
        withSession ? refuseFunctions(needsTrust) : call("switchSession", path),
    },
    navigateTree: (targetId, options) => call("navigateTree", targetId, options),
  };
}

/** The process ends with its session, so nothing of it can continue in the next one. */
const refuseFunctions = (needsTrust: NeedsTrust): Promise<never> =>
  Promise.reject(needsTrust.refuse("continuing in another session with `setup` or `withSession`"));

type Read = (method: string, ...args: unknown[]) => never;

const createChildReader = (read: Read): SessionReader => ({
  getCwd: () => read("reader.getCwd"),
  getSessionDir: () => read("reader.getSessionDir"),
  getSessionId: () => read("reader.getSessionId"),
  getSessionFile: () => read("reader.getSessionFile"),
  getSessionName: () => read("reader.getSessionName"),
  getLeafId: () => read("reader.getLeafId"),
  getLeafEntry: () => read("reader.getLeafEntry"),
  getEntry: (id) => read("reader.getEntry", id),
  getLabel: (id) => read("reader.getLabel", id),
  getBranch: (fromId) => read("reader.getBranch", fromId),
  getHeader: () => read("reader.getHeader"),
  getEntries: () => read("reader.getEntries"),
  getTree: () => read("reader.getTree"),
  isPersisted: () => read("reader.isPersisted"),
  buildSessionContext: () => read("reader.buildSessionContext"),
  buildRequestMessages: () => read("reader.buildRequestMessages"),
  buildContextEntries: () => read("reader.buildContextEntries"),
  buildSessionProjection: () => read("reader.buildSessionProjection"),
});

/** Models without their keys and headers. Asking one costs the user, and its answer is not in the log. */
function createChildModels(read: Read, needsTrust: NeedsTrust): ModelAccess {
  const find = (provider: string, id: string): Model | undefined => read("models.find", provider, id);
  const getAvailable = (): Model[] => read("models.getAvailable");
  const displayName = (provider: string): string | undefined => read("models.displayName", provider);
  const refuseKeys = () => Promise.reject(needsTrust.refuse("reading API keys"));
  const refuseRequest = (): never => {
    throw needsTrust.refuse("asking a model");
  };
  const findOfType: ModelAccess["findOfType"] = (type, ...id) => (type === "chat" ? find(...id) : undefined);
  const getAll = (): Model[] => read("models.getAll");
  const hasConfiguredAuth: ModelAccess["hasConfiguredAuth"] = ({ provider }) =>
    getAvailable().some((model) => model.provider === provider);
  const refuseProvider = (): never => {
    throw needsTrust.refuse("changing providers without `registerProvider` of the API");
  };
  return {
    getAll,
    getAvailable,
    find,
    findOfType,
    getModelOfType: findOfType,
    getModelsOfType: (type, provider) => filterOfType(getAll(), type, provider),
    getAvailableOfType: async (type, provider) => filterOfType(getAvailable(), type, provider),
    findRole: (role) => read("models.findRole", role),
    hasConfiguredAuth,
    getProviderAuthStatus: (provider) => ({ configured: hasConfiguredAuth({ provider }) }),
    getProviderAuth: refuseKeys,
    isUsingOAuth: () => false,
    getApiKey: refuseKeys,
    getApiKeyForProvider: refuseKeys,
    getApiKeyAndHeaders: refuseKeys,
    getProviderDisplayName: (provider) => displayName(provider) ?? provider,
    displayName,
    getError: () => undefined,
    refresh: async () => {},
    streamSimple: refuseRequest,
    stream: refuseRequest,
    complete: async () => refuseRequest(),
    registerProvider: refuseProvider,
    unregisterProvider: refuseProvider,
    // Their configurations have functions and keys of other extensions.
    getRegisteredProviderIds: () => [],
    getRegisteredProviderConfig: () => undefined,
  };
}

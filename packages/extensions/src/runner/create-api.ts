/** The API object of one extension in this process: it fills the registrations and passes everything else to the session. */
import { getErrorMessage } from "@tau/ai/internal";
import { ExtensionError } from "../errors.ts";
import { checkTool } from "../pipeline/adapt-tool.ts";
import type { EventBus, ExtensionAPI, FlagDefinition, ProviderConfig, SharedResource } from "../api/api.ts";
import type { Lifetime } from "./create-context.ts";
import { type ExtensionEventName, extensionEventNames } from "../api/events.ts";
import type { AnyHandler, Registrations } from "../api/extension.ts";
import { copyData } from "../api/must-be-data.ts";
import { isListed } from "../session/extension-tools.ts";
import { checkDefinition, checkHandler, checkProviderFunctions } from "./check-registration.ts";
import { isNativeProvider, toProviderConfig } from "../providers/native-provider.ts";
import type { NativeProvider } from "../providers/provider-config.ts";
import { checkVirtualModel, getVirtualName } from "../providers/virtual-models.ts";
import type { ExtensionSessionPort } from "../api/session-port.ts";

export interface ApiParts {
  registrations: Registrations;
  lifetime: Lifetime;
  /** Undefined while factories run: actions then throw, and registrations wait. */
  getSession: () => ExtensionSessionPort | undefined;
  /** The values of flags on the command line. */
  flagValues: ReadonlyMap<string, boolean | string>;
  /** The flags of all extensions of the session, by name; the first that registered a name has it. */
  findFlag: (name: string) => FlagDefinition | undefined;
  listMcpServers: () => ReturnType<ExtensionAPI["getMcpServers"]>;
  /** Called after a server was registered or removed. Default: nobody wants to know. */
  onMcpServersChange?: () => void;
  /** Called after a virtual model was registered or removed. Default: nobody wants to know. */
  onVirtualModelsChange?: () => void;
  events: EventBus;
  /** Calls `end` when the extension ends. Returns how to prevent that. */
  onEnd: (end: () => Promise<void>) => () => void;
  /** See `ExtensionAPI.shared`. */
  shared: <T extends SharedResource>(key: string, open: () => T | Promise<T>) => Promise<T>;
  /** Notifies the user, once for the same message. */
  report: (message: string) => void;
  /** See `ExtensionAPI.log`. */
  log: ExtensionAPI["log"];
}

export function createApi(parts: ApiParts): ExtensionAPI {
  const { registrations, lifetime, report, getSession } = parts;
  const session = (): ExtensionSessionPort => {
    lifetime.check();
    const port = getSession();
    if (port) return port;
    throw new ExtensionError(
      "invalid_input",
      "This can be called once the session has started, not while extensions load.",
    );
  };
  /** Begins work without waiting for it; its failure is reported to the user. */
  const begin = (what: string, work: Promise<unknown>): void => {
    work.catch((error: unknown) => report(`${what} failed: ${getErrorMessage(error)}`));
  };
  const changed = (): void => getSession()?.refreshTools();
  const spawn: ExtensionAPI["spawn"] = async (command, args, options = {}) =>
    await session().spawn(command, args, options);
  let isRefreshDue = false;
  /** Once for all tools that are registered in a row: a server may have thousands, which requests seldom list. */
  const changedSoon = async (): Promise<void> => {
    if (isRefreshDue) return;
    isRefreshDue = true;
    await Promise.resolve();
    isRefreshDue = false;
    changed();
  };

  return {
    on: ((name: string, handler: AnyHandler) => {
      lifetime.check();
      if (!isEventName(name)) {
        registrations.unknownEvents.add(String(name));
        return () => {};
      }
      checkHandler(handler, `The handler of ${name}`);
      return addHandler(registrations, name, handler);
    }) as ExtensionAPI["on"],
    registerTool(tool) {
      lifetime.check();
      checkTool(tool);
      const replaced = registrations.tools.get(tool.name);
      registrations.tools.set(tool.name, tool);
      if (isListed(tool) || (replaced && isListed(replaced))) changed();
      else begin("Listing tools", changedSoon());
    },
    registerCommand(name, command) {
      lifetime.check();
      checkDefinition("command", name, command);
      checkHandler(command.handler, `The handler of the command ${name}`);
      registrations.commands.set(name, command);
    },
    registerShortcut(key, shortcut) {
      lifetime.check();
      checkDefinition("shortcut", key, shortcut);
      checkHandler(shortcut.handler, `The handler of the shortcut ${key}`);
      registrations.shortcuts.set(key, shortcut);
    },
    registerFlag(name, flag) {
      lifetime.check();
      checkDefinition("flag", name, flag);
      registrations.flags.set(name, flag);
    },
    getFlag(name) {
      lifetime.check();
      // Only a flag that this extension registered: names are shared, and another one may mean something else.
      if (!registrations.flags.has(name)) return undefined;
      // While factories run, only the flags of this extension are known.
      return parts.flagValues.get(name) ?? (parts.findFlag(name) ?? registrations.flags.get(name))?.default;
    },
    registerMessageRenderer: (customType, renderer) => void registrations.messageRenderers.set(customType, renderer),
    registerEntryRenderer: (customType, renderer) => void registrations.entryRenderers.set(customType, renderer),
    registerMarkdownTransformer: (transformer) => void registrations.markdownTransformers.push(transformer),
    registerToolRenderer: (resolver) => void registrations.toolRenderers.push(resolver),
    registerProvider(given, config) {
      lifetime.check();
      const [name, provider] = typeof given === "object" && given ? [given.id, toConfig(given)] : [given, config ?? {}];
      checkDefinition("provider", name, provider);
      checkProviderFunctions(name, provider);
      getSession()?.registerProvider(name, provider);
      registrations.providers.set(name, provider);
    },
    unregisterProvider(name) {
      lifetime.check();
      registrations.providers.delete(name);
      getSession()?.unregisterProvider(name);
    },
    registerMcpServer(name, server) {
      lifetime.check();
      checkDefinition("server", name, server);
      registrations.mcpServers.set(name, copyData(server, "The server"));
      parts.onMcpServersChange?.();
    },
    unregisterMcpServer(name) {
      lifetime.check();
      if (registrations.mcpServers.delete(name)) parts.onMcpServersChange?.();
    },
    getMcpServers: () => parts.listMcpServers(),
    registerChannel(type, channel) {
      lifetime.check();
      checkDefinition("channel", type, channel);
      checkHandler(channel.open, `open of the channel ${type}`);
      registrations.channels.set(type, { ...channel, secrets: channel.secrets ?? {} });
    },
    registerVirtualModel(model) {
      lifetime.check();
      const checked = checkVirtualModel(model);
      registrations.virtualModels.set(getVirtualName(checked), checked);
      parts.onVirtualModelsChange?.();
    },
    unregisterVirtualModel(provider, id) {
      lifetime.check();
      if (registrations.virtualModels.delete(getVirtualName({ provider, id }))) parts.onVirtualModelsChange?.();
    },

    sendMessage: (message, options = {}) =>
      begin("Sending a message", session().sendMessage(copyData(message, "The message"), options)),
    sendUserMessage: (content, options = {}) =>
      begin("Sending a message", session().sendUserMessage(copyData(content, "The message"), options)),
    appendEntry: (customType, data) =>
      begin("Writing an entry", session().appendEntry(customType, copyData(data, "The entry"))),
    setSessionName: (name, options = {}) => begin("Naming the session", session().setSessionName(name, options)),
    getSessionName: () => session().reader.getSessionName(),
    setLabel: (entryId, label) => begin("Setting a label", session().setLabel(entryId, label)),
    exec: (command, args, options = {}) => session().exec(command, args, options),
    async spawn(command, args, options) {
      const program = await spawn(command, args, options);
      const forget = parts.onEnd(() => program.end());
      void program.exit.then(forget);
      return program;
    },
    async openChild(options) {
      const child = await session().openChild(options);
      const forget = parts.onEnd(() => child.close());
      return {
        ...child,
        async close() {
          forget();
          await child.close();
        },
      };
    },
    getChildrenSignal: () => session().getChildrenSignal(),
    getPersonWaitMs: () => session().getPersonWaitMs(),
    whileWaiting: async (work) => await session().whileWaiting(work),
    keepText: async (text) => await session().keepText(text),
    keepImage: async (image) => await session().keepImage(image),
    getAgents: async () => await session().getAgents(),
    requestAccess: async (access, options) => await session().requestAccess(access, options),
    audit: async (entry) => await session().audit(entry),
    getActiveTools: () => session().getActiveTools(),
    getAllTools: () => session().getAllTools(),
    findTools: async () => await session().findTools(),
    setActiveTools: (names) => session().setActiveTools(names),
    getCwd: () => session().cwd,
    getSettings: () => structuredClone(session().getSettings()),
    getCommands: () => session().getCommands(),
    setModel: (model) => session().setModel(model),
    getThinkingLevel: () => session().getThinkingLevel(),
    setThinkingLevel: (level) => begin("Setting the thinking level", session().setThinkingLevel(level)),
    log: parts.log,
    getPermissionMode: () => session().getPermissionMode(),
    setPlanMode: async (isOn) => await session().setPlanMode(isOn),
    events: guardBus(parts.events, report),
    async shared(key, open) {
      lifetime.check();
      if (typeof key !== "string" || key === "") throw new ExtensionError("invalid_input", "A key is a text.");
      checkHandler(open, `What opens ${JSON.stringify(key)}`);
      const resource = await parts.shared(key, () => open({ spawn }));
      // The extension may have ended while the resource was opened: it is closed then.
      lifetime.check();
      return resource;
    },
  };
}

const isEventName = (name: string): name is ExtensionEventName =>
  (extensionEventNames as readonly string[]).includes(name);

function addHandler({ handlers }: Registrations, name: ExtensionEventName, handler: AnyHandler): () => void {
  const list = handlers.get(name) ?? [];
  handlers.set(name, [...list, handler]);
  return () => {
    const left = (handlers.get(name) ?? []).filter((other) => other !== handler);
    if (left.length > 0) handlers.set(name, left);
    else handlers.delete(name);
  };
}

/** A listener that fails is reported under the name of its extension, and disturbs nobody else. */
export const guardBus = (bus: EventBus, report: (message: string) => void): EventBus => ({
  emit: (channel, data) => bus.emit(channel, data),
  on: (channel, handler) =>
    bus.on(channel, (data) => {
      const fail = (error: unknown) =>
        report(`Its listener to ${JSON.stringify(channel)} failed: ${getErrorMessage(error)}`);
      try {
        void Promise.resolve(handler(data)).catch(fail);
      } catch (error) {
        fail(error);
      }
    }),
});

/** The bus of one session. */
export function createEventBus(): EventBus & { clear(): void } {
  const channels = new Map<string, Set<(data: unknown) => void>>();
  return {
    on(channel, handler) {
      const handlers = channels.get(channel) ?? new Set();
      channels.set(channel, handlers.add(handler));
      return () => void handlers.delete(handler);
    },
    emit(channel, data) {
      for (const handler of channels.get(channel) ?? []) handler(data);
    },
    clear: () => channels.clear(),
  };
}

const toConfig = (provider: ProviderConfig | NativeProvider): ProviderConfig =>
  isNativeProvider(provider) ? toProviderConfig(provider) : provider;

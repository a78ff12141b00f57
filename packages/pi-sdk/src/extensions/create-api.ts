/** Creates the API that the factory of an extension is called with. */
import { resolve } from "node:path";
import { type EventBus, type ExtensionAPI, execProgram, isNativeProvider, toProviderConfig } from "@tau/extensions";
import { createSyntheticSourceInfo } from "@tau/pi/internal";
import type { ExtensionRuntime, Handler, PiExtension } from "./extension.ts";

export const createExtension = (path: string, resolvedPath: string): PiExtension => ({
  path,
  resolvedPath,
  sourceInfo: createSyntheticSourceInfo(resolvedPath, { source: "extension" }),
  handlers: new Map(),
  tools: new Map(),
  messageRenderers: new Map(),
  entryRenderers: new Map(),
  markdownTransformers: [],
  toolRenderers: [],
  mcpServers: new Map(),
  virtualModels: [],
  commands: new Map(),
  flags: new Map(),
  shortcuts: new Map(),
});

/** Keeps with the extension what needs a terminal, an MCP client or a router of models, for programs that have them. */
export function createExtensionApi(
  extension: PiExtension,
  runtime: ExtensionRuntime,
  { cwd, events }: { cwd: string; events: EventBus },
): ExtensionAPI {
  const { path: extensionPath, sourceInfo } = extension;
  const api = {
    on(name: string, handler: Handler) {
      const handlers = extension.handlers.get(name) ?? [];
      extension.handlers.set(name, [...handlers, handler]);
      return () => {
        const left = extension.handlers.get(name)?.filter((other) => other !== handler) ?? [];
        extension.handlers.set(name, left);
      };
    },
    registerTool(tool) {
      extension.tools.set(tool.name, { definition: tool, extensionPath, sourceInfo });
      runtime.refreshTools();
    },
    registerCommand: (name, command) => void extension.commands.set(name, { name, ...command }),
    registerShortcut: (shortcut, options) =>
      void extension.shortcuts.set(shortcut, { shortcut, extensionPath, ...options }),
    registerFlag(name, flag) {
      extension.flags.set(name, { name, extensionPath, ...flag });
      if (flag.default !== undefined && !runtime.flagValues.has(name)) runtime.flagValues.set(name, flag.default);
    },
    getFlag: (name) => (extension.flags.has(name) ? runtime.flagValues.get(name) : undefined),
    registerMessageRenderer: (customType, renderer) => void extension.messageRenderers.set(customType, renderer),
    registerEntryRenderer: (customType, renderer) => void extension.entryRenderers.set(customType, renderer),
    registerMarkdownTransformer: (transformer) => void extension.markdownTransformers.push(transformer),
    registerToolRenderer: (resolver) => void extension.toolRenderers.push(resolver),
    registerMcpServer: (name, config) => void extension.mcpServers.set(name, config),
    unregisterMcpServer: (name) => void extension.mcpServers.delete(name),
    getMcpServers: () => [...extension.mcpServers].map(([name, config]) => ({ name, config, extensionPath })),
    registerVirtualModel: (model) => void extension.virtualModels.push({ ...model }),
    unregisterVirtualModel(provider, id) {
      const isOther = (model: Record<string, unknown>) => model["provider"] !== provider || model["id"] !== id;
      extension.virtualModels = extension.virtualModels.filter(isOther);
    },
    registerProvider(name, config) {
      if (typeof name === "string") runtime.registerProvider(name, config ?? {});
      else runtime.registerProvider(name.id, isNativeProvider(name) ? toProviderConfig(name) : name);
    },
    unregisterProvider: (name) => runtime.unregisterProvider(name),
    sendMessage: (message, options) => runtime.sendMessage(message, options),
    sendUserMessage: (content, options) => runtime.sendUserMessage(content, options),
    appendEntry: (customType, data) => runtime.appendEntry(customType, data),
    setSessionName: (name) => runtime.setSessionName(name),
    getSessionName: () => runtime.getSessionName(),
    setLabel: (entryId, label) => runtime.setLabel(entryId, label),
    exec: (command, args, options = {}) =>
      execProgram(command, args, { ...options, cwd: resolve(cwd, options.cwd ?? "") }),
    getActiveTools: () => runtime.getActiveTools(),
    getAllTools: () => runtime.getAllTools(),
    setActiveTools: (names) => runtime.setActiveTools(names),
    getSettings: () => runtime.getSettings(),
    getCommands: () => runtime.getCommands(),
    setModel: (model) => runtime.setModel(model),
    getThinkingLevel: () => runtime.getThinkingLevel(),
    setThinkingLevel: (level) => runtime.setThinkingLevel(level),
    events,
  } satisfies Partial<Record<keyof ExtensionAPI, unknown>> & Partial<Omit<ExtensionAPI, "on">>;
  return api as unknown as ExtensionAPI;
}

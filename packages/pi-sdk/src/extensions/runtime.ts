import type { ExtensionActions, ExtensionRuntime } from "./extension.ts";

const actionNames: readonly (keyof ExtensionActions)[] = [
  "sendMessage",
  "sendUserMessage",
  "appendEntry",
  "setSessionName",
  "getSessionName",
  "setLabel",
  "getActiveTools",
  "getAllTools",
  "setActiveTools",
  "getSettings",
  "getCommands",
  "setModel",
  "getThinkingLevel",
  "setThinkingLevel",
];

/** Actions that throw. */
export function refuseActions(message: string): Omit<ExtensionActions, "refreshTools"> {
  const refuse = () => {
    throw new Error(message);
  };
  return Object.fromEntries(actionNames.map((name) => [name, refuse])) as unknown as ExtensionActions;
}

/** While extensions are loaded there is no session to act on. */
export function createExtensionRuntime(): ExtensionRuntime {
  const runtime: ExtensionRuntime = {
    ...refuseActions(
      "Extension runtime not initialized. Action methods cannot be called while an extension is loaded: call them in a handler.",
    ),
    refreshTools: () => {},
    flagValues: new Map(),
    pendingProviderRegistrations: [],
    registerProvider: (name, config) => void runtime.pendingProviderRegistrations.push({ name, config }),
    unregisterProvider(name) {
      runtime.pendingProviderRegistrations = runtime.pendingProviderRegistrations.filter(
        (registration) => registration.name !== name,
      );
    },
  };
  return runtime;
}

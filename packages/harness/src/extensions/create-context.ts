/** Builds the contexts of handlers, tools and commands over the port to their session. */
import { HarnessError } from "../errors.ts";
import type {
  ExtensionCommandContext,
  ExtensionContext,
  ExtensionToolContext,
  ReplacedSessionContext,
} from "./context.ts";
import type { ExtensionSessionPort } from "./session-port.ts";

/** Whether contexts and the API still work. */
export interface Lifetime {
  /** Throws `closed` after the extensions were reloaded or their session was replaced. */
  check(): void;
  end(why: string): void;
}

export function createLifetime(): Lifetime {
  let ended: string | undefined;
  return {
    check() {
      if (ended === undefined) return;
      const advice = "Use the context that `withSession` or the next event gives.";
      throw new HarnessError("closed", `This extension context no longer works: ${ended} ${advice}`);
    },
    end(why) {
      ended ??= why;
    },
  };
}

export function createContext(port: ExtensionSessionPort, { check }: Lifetime): ExtensionContext {
  const live = (): ExtensionSessionPort => {
    check();
    return port;
  };
  return {
    get ui() {
      return live().ui;
    },
    get mode() {
      return live().mode;
    },
    get hasUI() {
      const { mode } = live();
      return mode === "tui" || mode === "rpc";
    },
    get cwd() {
      return live().cwd;
    },
    get sessionManager() {
      return live().reader;
    },
    get modelRegistry() {
      return live().modelRegistry;
    },
    get model() {
      return live().getModel();
    },
    get scopedModels() {
      return live().getScopedModels();
    },
    get thinkingLevel() {
      return live().getThinkingLevel();
    },
    get signal() {
      return live().getSignal();
    },
    isIdle: () => live().isIdle(),
    isProjectTrusted: () => live().isProjectTrusted(),
    abort: () => live().abort(),
    hasPendingMessages: () => live().hasPendingMessages(),
    shutdown: () => live().shutdown(),
    getContextUsage: () => live().getContextUsage(),
    getSystemPrompt: () => live().getSystemPrompt(),
    compact({ customInstructions, onComplete, onError } = {}) {
      live()
        .compact(customInstructions)
        .then(onComplete, (error: unknown) => onError?.(error instanceof Error ? error : new Error(String(error))));
    },
  };
}

export function createToolContext(
  port: ExtensionSessionPort,
  lifetime: Lifetime,
  call: { id: string; signal: AbortSignal | undefined },
): ExtensionToolContext {
  return extend(createContext(port, lifetime), {
    get tools() {
      lifetime.check();
      return port.getCallableTools();
    },
    executeTool(name, args, options = {}) {
      lifetime.check();
      return port.executeTool(call.id, name, args, { ...(call.signal && { signal: call.signal }), ...options });
    },
  } satisfies Pick<ExtensionToolContext, "tools" | "executeTool">);
}

export function createCommandContext(port: ExtensionSessionPort, lifetime: Lifetime): ExtensionCommandContext {
  const live = (): ExtensionSessionPort => {
    lifetime.check();
    return port;
  };
  return extend(createContext(port, lifetime), {
    getSystemPromptOptions: () => live().getSystemPromptOptions(),
    waitForIdle: () => live().waitForIdle(),
    newSession: (options) => live().replace.newSession(options),
    fork: (entryId, options) => live().replace.fork(entryId, options),
    switchSession: (path, options) => live().replace.switchSession(path, options),
    navigateTree: (targetId, options) => live().navigateTree(targetId, options),
    reload: () => live().reload(),
  } satisfies Omit<ExtensionCommandContext, keyof ExtensionContext>);
}

/** What `withSession` is called with. */
export function createReplacedContext(port: ExtensionSessionPort, lifetime: Lifetime): ReplacedSessionContext {
  return extend(createCommandContext(port, lifetime), {
    async sendMessage(message, options = {}) {
      lifetime.check();
      await port.sendMessage(message, options);
    },
    async sendUserMessage(content, options = {}) {
      lifetime.check();
      await port.sendUserMessage(content, options);
    },
  } satisfies Omit<ReplacedSessionContext, keyof ExtensionCommandContext>);
}

/** Adds members and keeps getters. Each tool call makes a context, and copying descriptors would take 10 µs of it. */
function extend<Base extends object, More extends object>(base: Base, more: More): Base & More {
  return Object.setPrototypeOf(more, base) as Base & More;
}

/** Builds the contexts of handlers, tools and commands over the port to their session. */
import { ExtensionError } from "../errors.ts";
import type {
  ExtensionCommandContext,
  ExtensionContext,
  ExtensionToolContext,
  ReplacedSessionContext,
} from "../api/context.ts";
import { toCopyable } from "../api/copyable.ts";
import type { ExtensionSessionPort } from "../api/session-port.ts";

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
      // Extensions look for the first sentence, which is pi's.
      const message = `This extension ctx is stale after session replacement or reload. ${ended} ${advice}`;
      throw new ExtensionError("closed", message);
    },
    end(why) {
      ended ??= why;
    },
  };
}

export const createContext = (port: ExtensionSessionPort, lifetime: Lifetime): ExtensionContext =>
  toCopyable(new SessionContext(port, lifetime));

interface CallOfTool {
  id: string;
  signal: AbortSignal | undefined;
  /** See `ExtensionSessionPort.executeTool`. */
  isOfFeature?: boolean;
  ports?: ExtensionToolContext["ports"];
}

/** The context of one tool call. */
export const createToolContext = (
  port: ExtensionSessionPort,
  lifetime: Lifetime,
  call: CallOfTool,
): ExtensionToolContext => toCopyable(new ToolCallContext(port, lifetime, call));

export const createCommandContext = (port: ExtensionSessionPort, lifetime: Lifetime): ExtensionCommandContext =>
  toCopyable(new CommandContext(port, lifetime));

/** Creates the context that `withSession` is called with. */
export const createReplacedContext = (port: ExtensionSessionPort, lifetime: Lifetime): ReplacedSessionContext =>
  toCopyable(new ReplacedContext(port, lifetime));

/** The port, while it works. A symbol, so that extensions find no member that is not theirs. */
const live = Symbol("live");

/**
 * Classes, because each tool call makes a context: an object with as many getters takes 5 µs, an instance a tenth of one.
 * Methods belong to the instance, since extensions take them out of it.
 */
class SessionContext implements ExtensionContext {
  readonly #port: ExtensionSessionPort;
  readonly #lifetime: Lifetime;

  constructor(port: ExtensionSessionPort, lifetime: Lifetime) {
    this.#port = port;
    this.#lifetime = lifetime;
  }

  protected [live](): ExtensionSessionPort {
    this.#lifetime.check();
    return this.#port;
  }

  get ui(): ExtensionContext["ui"] {
    return this[live]().ui;
  }
  get mode(): ExtensionContext["mode"] {
    return this[live]().mode;
  }
  get hasUI(): boolean {
    const { mode } = this[live]();
    return mode === "tui" || mode === "rpc";
  }
  get cwd(): string {
    return this[live]().cwd;
  }
  get sessionManager(): ExtensionContext["sessionManager"] {
    return this[live]().reader;
  }
  get modelRegistry(): ExtensionContext["modelRegistry"] {
    return this[live]().modelRegistry;
  }
  get model(): ExtensionContext["model"] {
    return this[live]().getModel();
  }
  get scopedModels(): ExtensionContext["scopedModels"] {
    return this[live]().getScopedModels();
  }
  get thinkingLevel(): ExtensionContext["thinkingLevel"] {
    return this[live]().getThinkingLevel();
  }
  get signal(): AbortSignal | undefined {
    return this[live]().getSignal();
  }

  readonly isIdle = (): boolean => this[live]().isIdle();
  readonly isProjectTrusted = (): boolean => this[live]().isProjectTrusted();
  readonly abort = (): void => this[live]().abort();
  readonly hasPendingMessages = (): boolean => this[live]().hasPendingMessages();
  readonly shutdown = (): void => this[live]().shutdown();
  readonly getContextUsage: ExtensionContext["getContextUsage"] = () => this[live]().getContextUsage();
  readonly getSystemPrompt = (): string => this[live]().getSystemPrompt();
  readonly compact: ExtensionContext["compact"] = ({ customInstructions, onComplete, onError } = {}) => {
    this[live]()
      .compact(customInstructions)
      .then(onComplete, (error: unknown) =>
        onError?.(error instanceof Error ? error : new ExtensionError("failed", String(error))),
      );
  };
}

class ToolCallContext extends SessionContext implements ExtensionToolContext {
  readonly #call: CallOfTool;

  constructor(port: ExtensionSessionPort, lifetime: Lifetime, call: CallOfTool) {
    super(port, lifetime);
    this.#call = call;
  }

  get ports(): ExtensionToolContext["ports"] {
    return this.#call.ports;
  }

  get tools(): ExtensionToolContext["tools"] {
    return this[live]().getCallableTools();
  }

  readonly executeTool: ExtensionToolContext["executeTool"] = (name, args, options = {}) => {
    const { id, signal, isOfFeature = false } = this.#call;
    return this[live]().executeTool(id, name, args, { ...(signal && { signal }), ...options, isOfFeature });
  };
}

class CommandContext extends SessionContext implements ExtensionCommandContext {
  readonly getSystemPromptOptions: ExtensionCommandContext["getSystemPromptOptions"] = () =>
    this[live]().getSystemPromptOptions();
  readonly waitForIdle: ExtensionCommandContext["waitForIdle"] = () => this[live]().waitForIdle();
  readonly newSession: ExtensionCommandContext["newSession"] = (options) => this[live]().replace.newSession(options);
  readonly fork: ExtensionCommandContext["fork"] = (entryId, options) => this[live]().replace.fork(entryId, options);
  readonly switchSession: ExtensionCommandContext["switchSession"] = (path, options) =>
    this[live]().replace.switchSession(path, options);
  readonly navigateTree: ExtensionCommandContext["navigateTree"] = (targetId, options) =>
    this[live]().navigateTree(targetId, options);
  readonly reload: ExtensionCommandContext["reload"] = () => this[live]().reload();
}

class ReplacedContext extends CommandContext implements ReplacedSessionContext {
  readonly sendMessage: ReplacedSessionContext["sendMessage"] = async (message, options = {}) => {
    await this[live]().sendMessage(message, options);
  };
  readonly sendUserMessage: ReplacedSessionContext["sendUserMessage"] = async (content, options = {}) => {
    await this[live]().sendUserMessage(content, options);
  };
}

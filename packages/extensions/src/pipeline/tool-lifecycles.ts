/** Loads and unloads the tools of one session, and calls the methods that accompany their calls. */
import type { Clock } from "@tau/ai";
import { getErrorMessage, oncePer, untilAborted, untilTimeout } from "@tau/ai/internal";
import type { ToolBinding, ToolCallContext, ToolContext, ToolFacilities, ToolLogLevel, ToolSession } from "@tau/tools";
import { HarnessError } from "@tau/protocol";
import { adaptTool } from "./adapt-tool.ts";
import type { GivenTool, LifecyclePort, PipelineTool } from "./layer.ts";
import { createFacilities } from "./tool-facilities.ts";
import { getRawResult } from "./tool-result.ts";

interface ToolLifecyclesParts {
  clock: Clock;
  /** Aborts when the session ends. */
  signal: AbortSignal;
  notice: (code: string, message: string) => void;
  log: (tool: string, level: ToolLogLevel, message: string) => void;
  /** The channel that the session serves. */
  binding: ToolBinding | undefined;
  session: ToolSession;
}

interface Loaded {
  readonly facilities: ToolFacilities;
  /** Settles when the last step, loading or unloading, is over. Never rejects. */
  last: Promise<void>;
  hasLoaded: boolean;
  isGone: boolean;
  /** Why it could not be loaded, as a sentence. */
  failure?: string;
}

export const maxLoadMs = 30_000;
const maxUnloadMs = 5_000;

export class ToolLifecycles implements LifecyclePort {
  readonly #parts: ToolLifecyclesParts;
  readonly #tools = new Map<PipelineTool, Loaded>();

  constructor(parts: ToolLifecyclesParts) {
    this.#parts = parts;
  }

  get #place(): Pick<ToolContext, "binding" | "session"> {
    const { binding, session } = this.#parts;
    return { session, ...(binding && { binding }) };
  }

  readonly bind = oncePer((tool: PipelineTool): PipelineTool => {
    if (!tool.usesContext && !hasMethods(tool)) return tool;
    return {
      ...tool,
      origin: tool,
      execute: async (toolCallId, params, signal = this.#parts.signal, onUpdate, callContext) => {
        await this.#load(tool);
        const { failure, facilities } = this.#tools.get(tool)!;
        if (failure !== undefined) throw new HarnessError("denied", `${tool.name} was not called. ${failure}`);
        const context: ToolContext = { ...callContext, ...facilities, ...this.#place, signal, toolCallId };
        await this.#ask(tool, params, context);
        const result = await tool.execute(
          toolCallId,
          params,
          signal,
          onUpdate,
          context as ToolContext & ToolCallContext,
        );
        await this.#attempt(tool, "afterInvoke", () => tool.afterInvoke?.(getRawResult(result), context));
        return result;
      },
    };
  });

  getFailure(given: GivenTool): string | undefined {
    return this.#tools.get(adaptTool(given))?.failure;
  }

  /** Loads those that are not loaded. Answers whether one of them could not be, when all are done. Never rejects. */
  async load(tools: readonly PipelineTool[]): Promise<boolean> {
    const fresh = tools.flatMap(({ origin }) => origin ?? []).filter((tool) => !this.#tools.get(tool)?.hasLoaded);
    await Promise.all(fresh.map((tool) => this.#load(tool)));
    return fresh.some((tool) => this.#tools.get(tool)?.failure !== undefined);
  }

  /** Unloads those that the session no longer has. Never rejects. */
  async unloadOthers(given: readonly GivenTool[]): Promise<void> {
    const kept = new Set(given.map(adaptTool));
    await Promise.all([...this.#tools.keys()].filter((tool) => !kept.has(tool)).map((tool) => this.#unload(tool)));
  }

  /** Tools that could not be loaded may be tried again. */
  forgetFailures(): void {
    for (const [tool, { failure }] of this.#tools) if (failure !== undefined) this.#tools.delete(tool);
  }

  #load(tool: PipelineTool): Promise<void> {
    const before = this.#tools.get(tool);
    if (before && !before.isGone) return before.last;
    const { log, clock, signal, notice } = this.#parts;
    const facilities = createFacilities((level, text) => log(tool.name, level, text));
    const loaded: Loaded = { facilities, hasLoaded: false, isGone: false, last: Promise.resolve() };
    this.#tools.set(tool, loaded);
    loaded.last = runAfter(before?.last, async () => {
      const work = () => tool.onLoad?.(this.#createContext(loaded));
      const reason = await getHookFailure(work, { maxMs: maxLoadMs, clock, signal });
      loaded.hasLoaded = reason === undefined;
      if (reason === undefined) return;
      loaded.failure = `Its onLoad failed: ${reason}`;
      notice("tool_dropped", `The tool ${tool.name} is left out: ${loaded.failure}`);
    });
    return loaded.last;
  }

  #unload(tool: PipelineTool): Promise<void> {
    const loaded = this.#tools.get(tool)!;
    if (loaded.isGone) return loaded.last;
    loaded.isGone = true;
    loaded.last = runAfter(loaded.last, async () => {
      const work = () => (loaded.hasLoaded ? tool.onUnload?.(this.#createContext(loaded)) : undefined);
      const reason = await getHookFailure(work, { maxMs: maxUnloadMs, clock: this.#parts.clock });
      if (reason !== undefined) this.#warn(tool, "onUnload", reason);
      if (this.#tools.get(tool) === loaded) this.#tools.delete(tool);
    });
    return loaded.last;
  }

  #createContext({ facilities }: Loaded): ToolContext {
    return { ...facilities, ...this.#place, signal: this.#parts.signal, toolCallId: "" };
  }

  async #ask(tool: PipelineTool, params: unknown, context: ToolContext): Promise<void> {
    try {
      await tool.beforeInvoke?.(params, context);
    } catch (error) {
      throw new HarnessError("denied", getErrorMessage(error), { cause: error });
    }
    if (context.signal.aborted) throw new HarnessError("aborted", `The call was aborted before ${tool.name} started.`);
  }

  async #attempt(tool: PipelineTool, method: string, work: () => unknown): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#warn(tool, method, getErrorMessage(error));
    }
  }

  #warn(tool: PipelineTool, method: string, reason: string): void {
    this.#parts.notice("tool", `${method} of the tool ${tool.name} failed: ${reason}`);
  }
}

const methods = ["onLoad", "beforeInvoke", "afterInvoke", "onUnload"] as const;

const hasMethods = (tool: PipelineTool): boolean => methods.some((method) => tool[method] !== undefined);

async function runAfter(previous: Promise<void> | undefined, work: () => Promise<void>): Promise<void> {
  await previous;
  await work();
}

interface Limits {
  maxMs: number;
  clock: Clock;
  signal?: AbortSignal;
}

/**
 * Runs a hook and describes what went wrong, also if the work takes too long or `signal` aborts; undefined when it is
 * done.
 */
async function getHookFailure(work: () => unknown, { maxMs, clock, signal }: Limits): Promise<string | undefined> {
  try {
    const started = Promise.resolve().then(work);
    const outcome = await untilTimeout(untilAborted(started, signal), maxMs, clock);
    if (outcome.kind === "timeout") return `it was not done after ${maxMs / 1_000} s.`;
    return outcome.value.kind === "aborted" ? "the session ended." : undefined;
  } catch (error) {
    return getErrorMessage(error);
  }
}

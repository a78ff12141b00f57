/** The kernels of one session, by language. */
import type { Clock } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import type { ExtensionAPI, ToolDefinition } from "@tau/extensions";
import { toVisible } from "../kit/visible-text.ts";
import { createAnswer } from "./answer-request.ts";
import type { Language } from "./feature.ts";
import { languages } from "./feature.ts";
import { cut, maxValueLength } from "./format-cell.ts";
import { KernelId } from "./ipc.ts";
import { Kernel } from "./kernel.ts";
import { KernelError } from "./kernel-error.ts";
import { connectProcess, toArgv } from "./kernel-process.ts";
import type { FromKernel } from "./messages.ts";
import { javascriptRunner, nodeOptions } from "./runners/javascript.ts";
import { pythonRunner } from "./runners/python.ts";

export interface KernelSetParts {
  tau: ExtensionAPI;
  clock: Clock;
  getSettings(): { idleMinutes: number; maxMemoryMb?: number | undefined };
  findPython(): string | undefined;
}

type RegisterMessage = Extract<FromKernel, { type: "Register" }>;

const maxRegistered = 100;
const maxDescriptionLength = 4_000;
const maxSchemaLength = 64 * 1024;
const titles: Readonly<Record<Language, string>> = { python: "Python", javascript: "JavaScript" };
const ids: Readonly<Record<Language, KernelId>> = { python: KernelId.Python, javascript: KernelId.Bun };

export class KernelSet {
  readonly #parts: KernelSetParts;
  readonly #kernels = new Map<Language, Kernel>();
  /** Why the last kernel of a language ended, until that was reported. */
  readonly #lost = new Map<Language, string>();
  /** The kernel that has registered each tool. */
  readonly #registered = new Map<string, Kernel>();

  constructor(parts: KernelSetParts) {
    this.#parts = parts;
  }

  /** The kernel of a language, which is started by its first cell. `lost` says why variables of an earlier one are gone. */
  take(language: Language): { kernel: Kernel; lost: string | undefined } {
    const running = this.#kernels.get(language);
    if (running && !running.hasEnded) return { kernel: running, lost: undefined };
    const kernel = this.#create(language);
    this.#kernels.set(language, kernel);
    const lost = this.#lost.get(language);
    this.#lost.delete(language);
    return { kernel, lost };
  }

  #create(language: Language): Kernel {
    const { tau, clock, getSettings } = this.#parts;
    const { idleMinutes, maxMemoryMb } = getSettings();
    const argv = toArgv(this.#getProgram(language));
    const kernel = new Kernel({
      id: ids[language],
      clock,
      idleMs: idleMinutes * 60_000,
      start: async (events) => {
        const [command = "", ...args] = argv;
        const env = { MPLBACKEND: "Agg", PYTHONUNBUFFERED: "", NODE_OPTIONS: "", NODE_REPL_EXTERNAL_MODULE: "" };
        const limits = maxMemoryMb === undefined ? {} : { maxMemoryMb };
        return connectProcess(await tau.spawn(command, args, { env, ...limits }), events);
      },
      onRegister: (tool) => this.#register(kernel, language, tool),
      getPersonWaitMs: () => tau.getPersonWaitMs(),
      onEnd: (reason) => {
        if (kernel.runs > 0) this.#lost.set(language, reason);
      },
    });
    return kernel;
  }

  #getProgram(language: Language): readonly string[] {
    if (language === "javascript") return [process.execPath, ...nodeOptions, "-e", javascriptRunner];
    const python = this.#parts.findPython();
    if (python !== undefined) return [python, "-c", pythonRunner];
    throw new KernelError(
      "ended",
      "There is no Python here. Use javascript; the user can install python3 or set kernels.python.",
    );
  }

  /** Tools of kernels never take the place of others. Says why one is not registered. */
  #register(kernel: Kernel, language: Language, tool: RegisterMessage): string | undefined {
    const { name } = tool;
    const owner = this.#registered.get(name);
    if (!/^[A-Za-z_]\w{0,50}$/.test(name)) return "A tool was not registered: its name cannot be used.";
    if (!owner && this.#registered.size >= maxRegistered)
      return `The tool ${name} was not registered: there are ${maxRegistered} already.`;
    if (owner && owner !== kernel && !owner.hasEnded)
      return `The tool ${name} was not registered: the other kernel has one of this name.`;
    try {
      this.#parts.tau.registerTool(this.#createTool(language, tool));
    } catch (error) {
      return `The tool ${name} was not registered: ${getErrorMessage(error)}`;
    }
    this.#registered.set(name, kernel);
    return undefined;
  }

  #createTool(language: Language, { name, description, parameters }: RegisterMessage): ToolDefinition {
    const toolName = `kernel__${name}`;
    const text = toVisible(description.slice(0, maxDescriptionLength));
    return {
      name: toolName,
      label: toolName,
      description: text || `The function ${name} that a ${titles[language]} cell has registered.`,
      parameters: toParameters(parameters),
      exposure: "deferred",
      access: () => [{ capability: "exec", target: { kind: "name", name: toolName }, risk: "unknown" }],
      execute: async (_id, params, signal, _onUpdate, context) => {
        const kernel = this.#registered.get(name);
        if (!kernel || kernel.hasEnded) throw new KernelError("ended", `The kernel of ${toolName} has ended.`);
        const value = await kernel
          .bridge(createAnswer({ context, signal, tau: this.#parts.tau }), signal)
          .invokeTool(name, params);
        const json = JSON.stringify(value);
        if (json.length > maxValueLength)
          throw new KernelError("failed", "The value is too large. Write it to a file, and give the path.");
        const shown = typeof value === "string" ? value : json;
        return { content: [{ type: "text", text: toVisible(cut(shown)) }], details: { structured: value } };
      },
    };
  }

  /** Starts a kernel without a cell. */
  async start(language: Language): Promise<void> {
    const { kernel } = this.take(language);
    const outcome = await kernel.run({
      code: "",
      callId: "",
      timeoutMs: undefined,
      signal: undefined,
      onOutput: () => undefined,
      answer: () => Promise.reject(new KernelError("over", "No cell is running.")),
    });
    if (outcome.kind === "ended") throw new KernelError("ended", outcome.reason);
  }

  /** Resolves with whether there was one. */
  async end(language: Language, reason: string): Promise<boolean> {
    const kernel = this.#kernels.get(language);
    if (!kernel || kernel.hasEnded) return false;
    await kernel.end(reason);
    return true;
  }

  async endAll(reason: string): Promise<void> {
    await Promise.all(languages.map((language) => this.end(language, reason)));
  }

  describeOne(language: Language): string {
    const kernel = this.#kernels.get(language);
    const state =
      !kernel || kernel.hasEnded
        ? "not running"
        : `${kernel.isBusy ? "busy" : "idle"}, ${kernel.runs} ${kernel.runs === 1 ? "cell" : "cells"} so far`;
    return `${titles[language]}: ${state}`;
  }

  describe(): string[] {
    return languages.map((language) => this.describeOne(language));
  }
}

/** A schema that is too long is left out: the function checks its arguments itself. */
function toParameters(schema: Readonly<Record<string, unknown>> | undefined): ToolDefinition["parameters"] {
  const isUsable = schema?.["type"] === "object" && JSON.stringify(schema).length <= maxSchemaLength;
  return isUsable ? schema : { type: "object", properties: {} };
}

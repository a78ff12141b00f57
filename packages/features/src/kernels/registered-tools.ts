/** The functions that kernels of a session have registered, as tools of the session. */
import { getErrorMessage } from "@tau/ai/internal";
import type { ExtensionAPI, ToolDefinition } from "@tau/extensions";
import { toVisible } from "../kit/visible-text.ts";
import { createAnswer } from "./answer-request.ts";
import type { CellQueue } from "./cell-queue.ts";
import { cut, maxValueLength } from "./format-cell.ts";
import type { Kernel } from "./kernel.ts";
import { KernelError } from "./kernel-error.ts";
import type { FromKernel } from "./messages.ts";

type RegisterMessage = Extract<FromKernel, { type: "Register" }>;

interface Owner {
  kernel: Kernel;
  queue: CellQueue;
  /** The name of its language for people. */
  title: string;
}

interface RegisteredTool {
  owner: Owner;
  definition: ToolDefinition;
}

const maxRegistered = 100;
const maxDescriptionLength = 4_000;
const maxSchemaLength = 64 * 1024;

export class RegisteredTools {
  readonly #tau: ExtensionAPI;
  /** By the name of the function. */
  readonly #tools = new Map<string, RegisteredTool>();

  constructor(tau: ExtensionAPI) {
    this.#tau = tau;
  }

  /** Tools of kernels never take the place of others. Says why one is not registered. */
  register(owner: Owner, message: RegisterMessage): string | undefined {
    const { name } = message;
    const before = this.#tools.get(name);
    if (!/^[A-Za-z_]\w{0,50}$/.test(name)) return "A tool was not registered: its name cannot be used.";
    if (!before && this.#tools.size >= maxRegistered)
      return `The tool ${name} was not registered: there are ${maxRegistered} already.`;
    if (before && before.owner.kernel !== owner.kernel)
      return `The tool ${name} was not registered: the other kernel has one of this name.`;
    const definition = this.#createTool(owner, message);
    try {
      this.#tau.registerTool(definition);
    } catch (error) {
      return `The tool ${name} was not registered: ${getErrorMessage(error)}`;
    }
    this.#tools.set(name, { owner, definition });
    return undefined;
  }

  /** The tools of a kernel that has ended can no longer be found. */
  removeOf(kernel: Kernel): void {
    for (const [name, { owner, definition }] of this.#tools) {
      if (owner.kernel !== kernel) continue;
      this.#tools.delete(name);
      this.#tau.registerTool({ ...definition, exposure: "hidden" });
    }
  }

  #createTool({ kernel, queue, title }: Owner, message: RegisterMessage): ToolDefinition {
    const { name, description, parameters } = message;
    const toolName = `kernel__${name}`;
    const text = toVisible(description.slice(0, maxDescriptionLength));
    return {
      name: toolName,
      label: toolName,
      description: text || `The function ${name} that a ${title} cell has registered.`,
      parameters: toParameters(parameters),
      exposure: "deferred",
      access: () => [{ capability: "exec", target: { kind: "name", name: toolName }, risk: "unknown" }],
      execute: async (callId, params, signal, _onUpdate, context) => {
        // The result of a function is its value alone.
        const print = () => undefined;
        const answer = createAnswer({ context, signal, tau: this.#tau, print });
        const value = await queue.runBeside(callId, () => kernel.bridge(answer, signal).invokeTool(name, params));
        const json = JSON.stringify(value);
        if (json.length > maxValueLength)
          throw new KernelError("failed", "The value is too large. Write it to a file, and give the path.");
        const shown = typeof value === "string" ? value : json;
        return { content: [{ type: "text", text: toVisible(cut(shown)) }], details: { structured: value } };
      },
    };
  }
}

/** A schema that is too long is left out: the function checks its arguments itself. */
function toParameters(schema: Readonly<Record<string, unknown>> | undefined): ToolDefinition["parameters"] {
  const isUsable = schema?.["type"] === "object" && JSON.stringify(schema).length <= maxSchemaLength;
  return isUsable ? schema : { type: "object", properties: {} };
}

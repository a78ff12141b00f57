/** The tools of a session: those of the program, of its creator and of extensions. */
import type { AgentTool } from "@tau/agent";
import type { ToolDefinition } from "@tau/harness/extensions";
import type { RegisteredTool } from "../extensions/extension.ts";
import type { ExtensionRunner } from "../extensions/runner.ts";
import { wrapRegisteredTools } from "../extensions/wrap.ts";
import { createAllTools } from "../tools/collections.ts";

export interface ToolSetOptions {
  cwd: string;
  customTools: readonly ToolDefinition[];
  baseToolsOverride: Record<string, AgentTool> | undefined;
  shellCommandPrefix: string | undefined;
}

/** Snippets and guidelines of a tool, as lines without breaks. */
export interface ToolLines {
  name: string;
  snippet: string | undefined;
  guidelines: string[];
}

const defaultNames = ["read", "bash", "edit", "write"];

export class ToolSet {
  readonly #base: ReadonlyMap<string, AgentTool>;
  readonly #custom: RegisteredTool[];
  readonly #overrides: boolean;
  #all: ReadonlyMap<string, AgentTool>;
  #definitions: ReadonlyMap<string, ToolDefinition> = new Map();

  constructor({ cwd, customTools, baseToolsOverride, shellCommandPrefix }: ToolSetOptions) {
    const bash = shellCommandPrefix === undefined ? {} : { bash: { commandPrefix: shellCommandPrefix } };
    this.#overrides = baseToolsOverride !== undefined;
    this.#base = new Map(Object.entries(baseToolsOverride ?? createAllTools(cwd, bash)));
    this.#custom = customTools.map((definition) => ({ definition, extensionPath: "<sdk>" }));
    this.#all = this.#base;
  }

  /** Takes what extensions have registered by now. */
  refresh(runner: ExtensionRunner): void {
    const registered = [...runner.getAllRegisteredTools(), ...this.#custom];
    const wrapped = wrapRegisteredTools(registered, runner);
    this.#all = new Map([...this.#base, ...wrapped.map((tool) => [tool.name, tool] as const)]);
    this.#definitions = new Map(registered.map(({ definition }) => [definition.name, definition]));
  }

  /** The program's usual tools, and all others. */
  getDefaultNames(initial: readonly string[] | undefined): string[] {
    const base = initial ?? (this.#overrides ? [...this.#base.keys()] : defaultNames);
    return [...new Set([...base, ...this.#definitions.keys()])];
  }

  getNewNames(known: ReadonlySet<string>): string[] {
    return [...this.#all.keys()].filter((name) => !known.has(name) && this.#definitions.has(name));
  }

  getNames(): string[] {
    return [...this.#all.keys()];
  }

  list(): AgentTool[] {
    return [...this.#all.values()];
  }

  /** Unknown names are left out. */
  select(names: readonly string[]): AgentTool[] {
    return names.flatMap((name) => this.#all.get(name) ?? []);
  }

  getLines(names: readonly string[]): ToolLines[] {
    return names.flatMap((name) => {
      const tool: Partial<ToolDefinition> | undefined = this.#definitions.get(name) ?? this.#all.get(name);
      if (!tool) return [];
      const guidelines = (tool.promptGuidelines ?? []).filter((line) => typeof line === "string");
      return [{ name, snippet: tool.promptSnippet && toLine(tool.promptSnippet), guidelines: guidelines.map(toLine) }];
    });
  }
}

const toLine = (text: string): string => text.replace(/\s+/g, " ").trim();

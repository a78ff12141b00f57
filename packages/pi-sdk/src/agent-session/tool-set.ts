/** The tools of a session: those of the program, of its creator and of extensions. */
import type { AgentTool } from "@tau/agent";
import type { SourceInfo, ToolDefinition } from "@tau/extensions";
import type { RegisteredTool } from "../extensions/extension.ts";
import type { ExtensionRunner } from "../extensions/runner.ts";
import { wrapRegisteredTools } from "../extensions/wrap.ts";
import { createAllTools, createSyntheticSourceInfo, type ToolsOptions } from "@tau/pi/internal";

interface ToolSetOptions {
  cwd: string;
  customTools: readonly ToolDefinition[];
  baseToolsOverride: Record<string, AgentTool> | undefined;
  /** Whether the session may have a tool of that name. */
  isAllowed: (name: string) => boolean;
  /** Asked at each `refresh`: settings change. */
  getToolsOptions(): ToolsOptions;
}

/** Snippets and guidelines of a tool, as lines without breaks. */
export interface ToolLines {
  name: string;
  snippet: string | undefined;
  guidelines: string[];
}

export const defaultToolNames: readonly string[] = ["read", "bash", "edit", "write"];
export const allToolNames: readonly string[] = [...defaultToolNames, "grep", "find", "ls"];

export class ToolSet {
  readonly #options: ToolSetOptions;
  readonly #custom: RegisteredTool[];
  #all: ReadonlyMap<string, AgentTool> = new Map();
  #definitions: ReadonlyMap<string, ToolDefinition> = new Map();
  #sources: ReadonlyMap<string, SourceInfo | undefined> = new Map();

  constructor(options: ToolSetOptions) {
    this.#options = options;
    this.#custom = options.customTools.map((definition) => ({ definition, extensionPath: "<sdk>" }));
  }

  /** Takes what extensions have registered by now. */
  refresh(runner: ExtensionRunner): void {
    const { cwd, baseToolsOverride, isAllowed, getToolsOptions } = this.#options;
    const own = Object.entries(baseToolsOverride ?? createAllTools(cwd, getToolsOptions()));
    const base = own.filter(([name]) => isAllowed(name));
    const registered = [...runner.getAllRegisteredTools(), ...this.#custom].filter(({ definition }) =>
      isAllowed(definition.name),
    );
    const wrapped = wrapRegisteredTools(registered, runner);
    this.#all = new Map([...base, ...wrapped.map((tool) => [tool.name, tool] as const)]);
    this.#definitions = new Map(registered.map(({ definition }) => [definition.name, definition]));
    this.#sources = new Map(registered.map(({ definition, sourceInfo }) => [definition.name, sourceInfo]));
  }

  /** The program's usual tools, and all others. */
  getDefaultNames(initial: readonly string[] | undefined): string[] {
    const { baseToolsOverride } = this.#options;
    const base = initial ?? (baseToolsOverride ? Object.keys(baseToolsOverride) : defaultToolNames);
    return [...new Set([...base, ...[...this.#definitions.values()].filter(isListed).map(({ name }) => name)])];
  }

  getNewNames(known: ReadonlySet<string>): string[] {
    return [...this.#definitions.values()].filter(isListed).flatMap(({ name }) => (known.has(name) ? [] : [name]));
  }

  /** Returns the definition of a tool; a tool of the program is its own definition. */
  getDefinition(name: string): ToolDefinition | undefined {
    return this.#definitions.get(name) ?? (this.#all.get(name) as unknown as ToolDefinition | undefined);
  }

  getSource(name: string): SourceInfo {
    const [path, source] = this.#sources.has(name) ? ["<sdk>", "sdk"] : [`<builtin:${name}>`, "builtin"];
    return this.#sources.get(name) ?? createSyntheticSourceInfo(path, { source });
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
      const tool: Partial<ToolDefinition> | undefined = this.getDefinition(name);
      if (!tool) return [];
      const guidelines = (tool.promptGuidelines ?? []).filter((line) => typeof line === "string");
      return [{ name, snippet: tool.promptSnippet && toLine(tool.promptSnippet), guidelines: guidelines.map(toLine) }];
    });
  }
}

/** Whether a tool is active without being named. */
const isListed = ({ exposure = "direct", defaultActive = true }: ToolDefinition): boolean =>
  defaultActive && (exposure === "direct" || exposure === "model-only");

const toLine = (text: string): string => text.replace(/\s+/g, " ").trim();

import type { Agent, AgentTool } from "@tau/agent";
import type { ToolDefinition } from "@tau/extensions";
import type { ToolsOptions } from "@tau/pi/internal";
import type { ExtensionRunner } from "../extensions/runner.ts";
import type { SettingsManager } from "../settings/settings-manager.ts";
import type { ResourceSource } from "./resource-source.ts";
import { buildSystemPrompt } from "./system-prompt.ts";
import { ToolSet } from "./tool-set.ts";

interface ActiveToolsParts {
  agent: Agent;
  cwd: string;
  settingsManager: SettingsManager;
  resourceLoader: ResourceSource;
  customTools: readonly ToolDefinition[];
  baseToolsOverride: Record<string, AgentTool> | undefined;
  /** Whether the session may have a tool of that name. */
  isAllowed: (name: string) => boolean;
}

/** Gives the agent its tools, and the system prompt that describes them. */
export class ActiveTools {
  readonly #parts: ActiveToolsParts;
  readonly #all: ToolSet;

  constructor(parts: ActiveToolsParts) {
    this.#parts = parts;
    const { cwd, customTools, baseToolsOverride, isAllowed, settingsManager } = parts;
    const getOptions = () => getToolsOptions(settingsManager);
    this.#all = new ToolSet({ cwd, customTools, baseToolsOverride, isAllowed, getToolsOptions: getOptions });
  }

  get names(): string[] {
    return this.#parts.agent.state.tools.map(({ name }) => name);
  }

  listAll(): Pick<AgentTool, "name" | "description" | "parameters">[] {
    return this.#all.list().map(({ name, description, parameters }) => {
      const { exposure = "direct", namespace }: Partial<ToolDefinition> = this.#all.getDefinition(name) ?? {};
      const sourceInfo = this.#all.getSource(name);
      return { name, description, parameters, exposure, sourceInfo, ...(namespace && { namespace }) };
    });
  }

  /** Lists the tools that other tools can call: those that are active, and those that requests never list. */
  listCallable(): AgentTool[] {
    const active = new Set(this.names);
    return this.#all.list().filter(({ name }) => {
      const exposure = this.#all.getDefinition(name)?.exposure ?? "direct";
      return exposure === "codemode" || exposure === "deferred" || (exposure === "direct" && active.has(name));
    });
  }

  getDefinition(name: string): ToolDefinition | undefined {
    return this.#all.getDefinition(name);
  }

  /** Takes the tools that extensions have registered by now. They are not activated. */
  refresh(runner: ExtensionRunner): void {
    this.#all.refresh(runner);
  }

  /** Takes the tools that extensions have registered by now, and activates those that are new. */
  refreshAndActivate(runner: ExtensionRunner): void {
    const known = new Set(this.#all.getNames());
    this.#all.refresh(runner);
    this.activate([...this.names, ...this.#all.getNewNames(known)]);
  }

  /** Activates the tools of those names, and no others. Unknown names are left out. */
  activate(names: readonly string[]): void {
    const tools = this.#all.select(names);
    this.#parts.agent.setTools(tools);
    this.#parts.agent.setSystemPrompt(this.#buildPrompt(tools.map(({ name }) => name)));
  }

  /** Activates the tools of those names and all of extensions. Default: those that pi starts with. */
  activateInitial(names: readonly string[] | undefined): void {
    this.activate(this.#all.getDefaultNames(names));
  }

  /** Activates the tools of those names and all of extensions that have another name. */
  activateAgain(names: readonly string[]): void {
    this.activate([...new Set([...names, ...this.#all.getNewNames(new Set(names))])]);
  }

  /** Builds the system prompt for the active tools, without what extensions added for the last prompt. */
  buildPrompt(): string {
    return this.#buildPrompt(this.names);
  }

  #buildPrompt(names: readonly string[]): string {
    const { cwd, resourceLoader } = this.#parts;
    return buildSystemPrompt({
      cwd,
      customPrompt: resourceLoader.getSystemPrompt(),
      appended: resourceLoader.getAppendSystemPrompt(),
      tools: this.#all.getLines(names),
      contextFiles: resourceLoader.getAgentsFiles().agentsFiles,
      skills: resourceLoader.getSkills().skills,
    });
  }
}

/** Reads how the settings change the tools. */
export function getToolsOptions(settings: SettingsManager): Required<Pick<ToolsOptions, "bash" | "read">> {
  const commandPrefix = settings.getShellCommandPrefix?.() as string | undefined;
  const shellPath = settings.getShellPath?.() as string | undefined;
  return {
    bash: { ...(commandPrefix !== undefined && { commandPrefix }), ...(shellPath !== undefined && { shellPath }) },
    read: { autoResizeImages: settings.getImageAutoResize?.() !== false },
  };
}

/** pi's `DefaultResourceLoader`: everything that a session is made of besides its model and its messages. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createTheme, decideColorMode, parseTheme, type Theme } from "@tau/tui";
import { getErrorMessage } from "@tau/ai/internal";
import { createEventBus, type EventBus, type ExtensionFactory } from "@tau/harness/extensions";
import { CONFIG_DIR_NAME, getAgentDir } from "../config.ts";
import type { LoadExtensionsResult } from "../extensions/extension.ts";
import { loadExtensionFromFactory, loadExtensions } from "../extensions/load.ts";
import { createExtensionRuntime } from "../extensions/runtime.ts";
import { DefaultPackageManager } from "../packages/package-manager.ts";
import type { ResolvedPaths, ResourceKind } from "../packages/resolved-paths.ts";
import { SettingsManager } from "../settings/settings-manager.ts";
import type { ResourceDiagnostic } from "../skills/diagnostics.ts";
import { loadSkills } from "../skills/load-skills.ts";
import type { Skill } from "../skills/skill.ts";
import { loadProjectContextFiles, type TextFile } from "./context-files.ts";
import { loadPromptTemplates, type PromptTemplate } from "./prompt-templates.ts";

interface Loaded {
  extensions: LoadExtensionsResult;
  skills: { skills: Skill[]; diagnostics: ResourceDiagnostic[] };
  prompts: { prompts: PromptTemplate[]; diagnostics: ResourceDiagnostic[] };
  themes: { themes: Theme[]; diagnostics: ResourceDiagnostic[] };
  agentsFiles: { agentsFiles: TextFile[] };
  systemPrompt: string | undefined;
  appendSystemPrompt: string[];
}

type Override<Value> = (base: Value) => Value;

export interface DefaultResourceLoaderOptions {
  cwd?: string;
  agentDir?: string;
  settingsManager?: SettingsManager;
  eventBus?: EventBus;
  additionalExtensionPaths?: string[];
  additionalSkillPaths?: string[];
  additionalPromptTemplatePaths?: string[];
  additionalThemePaths?: string[];
  extensionFactories?: ExtensionFactory[];
  noExtensions?: boolean;
  noSkills?: boolean;
  noPromptTemplates?: boolean;
  noThemes?: boolean;
  noContextFiles?: boolean;
  /** A text, or the path of a file. */
  systemPrompt?: string;
  appendSystemPrompt?: string | string[];
  extensionsOverride?: Override<Loaded["extensions"]>;
  skillsOverride?: Override<Loaded["skills"]>;
  promptsOverride?: Override<Loaded["prompts"]>;
  themesOverride?: Override<Loaded["themes"]>;
  agentsFilesOverride?: Override<Loaded["agentsFiles"]>;
  systemPromptOverride?: Override<string | undefined>;
  appendSystemPromptOverride?: Override<string[]>;
}

const nothing = (): Loaded => ({
  extensions: { extensions: [], errors: [], runtime: createExtensionRuntime() },
  skills: { skills: [], diagnostics: [] },
  prompts: { prompts: [], diagnostics: [] },
  themes: { themes: [], diagnostics: [] },
  agentsFiles: { agentsFiles: [] },
  systemPrompt: undefined,
  appendSystemPrompt: [],
});

const keep = <Value>(value: Value): Value => value;

/** Empty until the first `reload`. */
export class DefaultResourceLoader {
  readonly #options: DefaultResourceLoaderOptions;
  readonly #cwd: string;
  readonly #agentDir: string;
  readonly #settings: SettingsManager;
  readonly #events: EventBus;
  /** Paths that extensions added. */
  readonly #extended: Record<"skills" | "prompts" | "themes", string[]> = { skills: [], prompts: [], themes: [] };
  #loaded = nothing();

  constructor(options: DefaultResourceLoaderOptions = {}) {
    this.#options = options;
    this.#cwd = options.cwd ?? process.cwd();
    this.#agentDir = options.agentDir ?? getAgentDir();
    this.#settings = options.settingsManager ?? SettingsManager.create(this.#cwd, this.#agentDir);
    this.#events = options.eventBus ?? createEventBus();
  }

  getExtensions(): Loaded["extensions"] {
    return this.#loaded.extensions;
  }

  getSkills(): Loaded["skills"] {
    return this.#loaded.skills;
  }

  getPrompts(): Loaded["prompts"] {
    return this.#loaded.prompts;
  }

  getThemes(): Loaded["themes"] {
    return this.#loaded.themes;
  }

  getAgentsFiles(): Loaded["agentsFiles"] {
    return this.#loaded.agentsFiles;
  }

  getSystemPrompt(): string | undefined {
    return this.#loaded.systemPrompt;
  }

  getAppendSystemPrompt(): string[] {
    return this.#loaded.appendSystemPrompt;
  }

  /** Adds what extensions found, and loads it. */
  extendResources(paths: Partial<Record<"skillPaths" | "promptPaths" | "themePaths", { path: string }[]>>): void {
    for (const [kind, list] of [
      ["skills", paths.skillPaths],
      ["prompts", paths.promptPaths],
      ["themes", paths.themePaths],
    ] as const) {
      this.#extended[kind].push(...(list ?? []).map(({ path }) => path));
    }
    this.#loaded = {
      ...this.#loaded,
      skills: this.#merge(this.#loaded.skills, loadSkills({ ...this.#locations, skillPaths: this.#extended.skills })),
    };
  }

  async reload(): Promise<void> {
    const options = this.#options;
    const manager = new DefaultPackageManager({
      cwd: this.#cwd,
      agentDir: this.#agentDir,
      settingsManager: this.#settings,
    });
    const found = await manager.resolve();
    const list = (kind: ResourceKind, isOff: boolean | undefined, additional: readonly string[] = []) => [
      ...additional,
      ...(isOff ? [] : listEnabled(found, kind)),
    ];
    const extensions = await this.#loadExtensions(
      list("extensions", options.noExtensions, options.additionalExtensionPaths),
    );
    const skillPaths = [...list("skills", options.noSkills, options.additionalSkillPaths), ...this.#extended.skills];
    const promptPaths = list("prompts", options.noPromptTemplates, options.additionalPromptTemplatePaths);
    const themePaths = list("themes", options.noThemes, options.additionalThemePaths);
    const agentsFiles = options.noContextFiles
      ? []
      : loadProjectContextFiles({ cwd: this.#cwd, agentDir: this.#agentDir });
    const append = options.appendSystemPrompt ?? this.#findPromptFile("APPEND_SYSTEM.md") ?? [];
    this.#loaded = {
      extensions: (options.extensionsOverride ?? keep)(extensions),
      skills: (options.skillsOverride ?? keep)(loadSkills({ ...this.#locations, skillPaths })),
      prompts: (options.promptsOverride ?? keep)(loadPromptTemplates([...promptPaths, ...this.#extended.prompts])),
      themes: (options.themesOverride ?? keep)(loadThemes([...themePaths, ...this.#extended.themes])),
      agentsFiles: (options.agentsFilesOverride ?? keep)({ agentsFiles }),
      systemPrompt: (options.systemPromptOverride ?? keep)(
        toText(options.systemPrompt ?? this.#findPromptFile("SYSTEM.md")),
      ),
      appendSystemPrompt: (options.appendSystemPromptOverride ?? keep)([append].flat().map((text) => toText(text)!)),
    };
  }

  get #locations() {
    return { cwd: this.#cwd, agentDir: this.#agentDir, includeDefaults: false };
  }

  #merge(base: Loaded["skills"], more: Loaded["skills"]): Loaded["skills"] {
    const known = new Set(base.skills.map(({ name }) => name));
    return {
      skills: [...base.skills, ...more.skills.filter(({ name }) => !known.has(name))],
      diagnostics: [...base.diagnostics, ...more.diagnostics],
    };
  }

  async #loadExtensions(paths: readonly string[]): Promise<LoadExtensionsResult> {
    const result = await loadExtensions([...new Set(paths)], this.#cwd, this.#events);
    for (const [index, factory] of (this.#options.extensionFactories ?? []).entries()) {
      const path = `<inline:${index + 1}>`;
      await loadExtensionFromFactory(factory, this.#cwd, this.#events, result.runtime, path).then(
        (extension) => void result.extensions.push(extension),
        (error: unknown) => void result.errors.push({ path, error: getErrorMessage(error) }),
      );
    }
    return result;
  }

  /** Of the project, else of the user. */
  #findPromptFile(name: string): string | undefined {
    const paths = [join(this.#cwd, CONFIG_DIR_NAME, name), join(this.#agentDir, name)];
    return paths.find((path) => existsSync(path));
  }
}

const listEnabled = (found: ResolvedPaths, kind: ResourceKind): string[] =>
  found[kind].filter(({ enabled }) => enabled).map(({ path }) => path);

/** The content of a file, or the text itself. */
const toText = (text: string | undefined): string | undefined =>
  text !== undefined && !text.includes("\n") && existsSync(text) ? readFileSync(text, "utf8") : text;

function loadThemes(paths: readonly string[]): Loaded["themes"] {
  const mode = decideColorMode(process.env, { hasTrueColor: true });
  const result: Loaded["themes"] = { themes: [], diagnostics: [] };
  for (const path of paths) {
    if (!existsSync(path)) {
      result.diagnostics.push({ type: "warning", message: "theme path does not exist", path });
      continue;
    }
    const parsed = parseTheme(readFileSync(path, "utf8"), path);
    if ("theme" in parsed && parsed.theme) result.themes.push(createTheme(parsed.theme, mode, { sourcePath: path }));
    else {
      const problems = "problems" in parsed ? parsed.problems : [];
      for (const { message } of problems) result.diagnostics.push({ type: "warning", message, path });
    }
  }
  return result;
}

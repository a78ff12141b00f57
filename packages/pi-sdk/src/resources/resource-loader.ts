/** pi's `DefaultResourceLoader`: everything that a session is made of besides its model and its messages. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { getErrorMessage } from "@tau/ai/internal";
import { createEventBus, type EventBus, type ExtensionFactory } from "@tau/extensions";
import { CONFIG_DIR_NAME, getAgentDir, loadSkills, type ResourceDiagnostic, type Skill } from "@tau/pi/internal";
import { findConflicts } from "../extensions/conflicts.ts";
import type { LoadExtensionsResult } from "../extensions/extension.ts";
import { loadExtensionFromFactory, loadExtensions } from "../extensions/load.ts";
import { createExtensionRuntime } from "../extensions/runtime.ts";
import { findResources } from "../packages/find-resources.ts";
import { DefaultPackageManager } from "../packages/package-manager.ts";
import { type PathMetadata, type ResolvedPaths, type ResourceKind, resourceKinds } from "../packages/resolved-paths.ts";
import { SettingsManager } from "../settings/settings-manager.ts";
import { loadProjectContextFiles, type TextFile } from "./context-files.ts";
import { loadThemes, type LoadThemesResult } from "./load-themes.ts";
import { loadPromptTemplates, type PromptTemplate } from "./prompt-templates.ts";

interface Loaded {
  extensions: LoadExtensionsResult;
  skills: { skills: Skill[]; diagnostics: ResourceDiagnostic[] };
  prompts: { prompts: PromptTemplate[]; diagnostics: ResourceDiagnostic[] };
  themes: LoadThemesResult;
  agentsFiles: { agentsFiles: TextFile[] };
  systemPrompt: string | undefined;
  appendSystemPrompt: string[];
  /** The files of the two, as far as they are files. */
  promptSources: { system: PromptSource | undefined; append: PromptSource[] };
}

type PromptSource = { path: string };

type ExtendedPath = { path: string; metadata?: PathMetadata };

type Override<Value> = (base: Value) => Value;

type InlineExtension = ExtensionFactory | { name: string; factory: ExtensionFactory };

export interface DefaultResourceLoaderOptions {
  cwd?: string;
  agentDir?: string;
  settingsManager?: SettingsManager;
  eventBus?: EventBus;
  additionalExtensionPaths?: string[];
  additionalSkillPaths?: string[];
  additionalPromptTemplatePaths?: string[];
  additionalThemePaths?: string[];
  /** With a name, an extension is reported under it. */
  extensionFactories?: InlineExtension[];
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

interface ResourceLoaderReloadOptions {
  /** Decides whether the project is trusted; of one that is not, only context files are read. Default: as the settings say. */
  resolveProjectTrust?: (input: { extensionsResult: LoadExtensionsResult }) => Promise<boolean>;
}

const nothing = (): Loaded => ({
  extensions: { extensions: [], errors: [], runtime: createExtensionRuntime() },
  skills: { skills: [], diagnostics: [] },
  prompts: { prompts: [], diagnostics: [] },
  themes: { themes: [], diagnostics: [] },
  agentsFiles: { agentsFiles: [] },
  systemPrompt: undefined,
  appendSystemPrompt: [],
  promptSources: { system: undefined, append: [] },
});

const keep = <Value>(value: Value): Value => value;

/** Empty until the first `reload`. */
export class DefaultResourceLoader {
  readonly #options: DefaultResourceLoaderOptions;
  readonly #cwd: string;
  readonly #agentDir: string;
  readonly #settings: SettingsManager;
  readonly #events: EventBus;
  /** A private field of pi's: programs set it so that extensions are loaded anew, which they always are here. */
  loaded = false;
  #metadata = new Map<string, PathMetadata>();
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

  getSystemPromptSource(): PromptSource | undefined {
    return this.#loaded.promptSources.system;
  }

  getAppendSystemPromptSources(): PromptSource[] {
    return this.#loaded.promptSources.append;
  }

  /** Where the files come from, by their paths. */
  getPathMetadata(): Map<string, PathMetadata> {
    return new Map(this.#metadata);
  }

  /** Loads what extensions found and adds it, until the next `reload`. */
  extendResources(paths: Partial<Record<"skillPaths" | "promptPaths" | "themePaths", ExtendedPath[]>>): void {
    const { skills, prompts, themes } = this.#loaded;
    const more = {
      skills: loadSkills({ ...this.#locations, skillPaths: this.#findExtended("skills", paths.skillPaths) }),
      prompts: this.#loadPrompts(this.#findExtended("prompts", paths.promptPaths)),
      themes: loadThemes(this.#findExtended("themes", paths.themePaths)),
    };
    this.#loaded = {
      ...this.#loaded,
      skills: {
        skills: addNamed(skills.skills, more.skills.skills),
        diagnostics: [...skills.diagnostics, ...more.skills.diagnostics],
      },
      prompts: {
        prompts: addNamed(prompts.prompts, more.prompts.prompts),
        diagnostics: [...prompts.diagnostics, ...more.prompts.diagnostics],
      },
      themes: {
        themes: addNamed(themes.themes, more.themes.themes),
        diagnostics: [...themes.diagnostics, ...more.themes.diagnostics],
      },
    };
  }

  async reload({ resolveProjectTrust }: ResourceLoaderReloadOptions = {}): Promise<void> {
    const options = this.#options;
    if (resolveProjectTrust) {
      // Extensions that could take part in the decision are asked by tau itself.
      const isTrusted = await resolveProjectTrust({ extensionsResult: nothing().extensions });
      this.#settings.setProjectTrusted(isTrusted);
    }
    const manager = new DefaultPackageManager({
      cwd: this.#cwd,
      agentDir: this.#agentDir,
      settingsManager: this.#settings,
    });
    const found = await manager.resolve();
    this.#metadata = new Map(
      resourceKinds.flatMap((kind) => found[kind].map(({ path, metadata }) => [path, metadata])),
    );
    const list = (kind: ResourceKind, isOff: boolean | undefined, additional: readonly string[] = []) => [
      ...additional,
      ...(isOff ? [] : listEnabled(found, kind)),
    ];
    const extensions = await this.#loadExtensions(
      list("extensions", options.noExtensions, options.additionalExtensionPaths),
    );
    const skillPaths = list("skills", options.noSkills, options.additionalSkillPaths);
    const promptPaths = list("prompts", options.noPromptTemplates, options.additionalPromptTemplatePaths);
    const themePaths = list("themes", options.noThemes, options.additionalThemePaths);
    const agentsFiles = options.noContextFiles
      ? []
      : loadProjectContextFiles({ cwd: this.#cwd, agentDir: this.#agentDir });
    const system = options.systemPrompt ?? this.#findPromptFile("SYSTEM.md");
    const append = [options.appendSystemPrompt ?? this.#findPromptFile("APPEND_SYSTEM.md") ?? []].flat();
    this.#loaded = {
      extensions: (options.extensionsOverride ?? keep)(extensions),
      skills: (options.skillsOverride ?? keep)(loadSkills({ ...this.#locations, skillPaths })),
      prompts: (options.promptsOverride ?? keep)(this.#loadPrompts(promptPaths)),
      themes: (options.themesOverride ?? keep)(loadThemes(themePaths)),
      agentsFiles: (options.agentsFilesOverride ?? keep)({ agentsFiles }),
      systemPrompt: (options.systemPromptOverride ?? keep)(system === undefined ? undefined : toText(system)),
      appendSystemPrompt: (options.appendSystemPromptOverride ?? keep)(append.map(toText)),
      promptSources: { system: toSource(system ?? "")[0], append: append.flatMap(toSource) },
    };
    this.loaded = true;
  }

  get #locations() {
    return { cwd: this.#cwd, agentDir: this.#agentDir, includeDefaults: false };
  }

  #findExtended(kind: ResourceKind, paths: readonly ExtendedPath[] = []): string[] {
    return paths.flatMap(({ path, metadata }) => {
      const files = findResources(kind, path);
      if (metadata) for (const file of files) this.#metadata.set(file, metadata);
      return files;
    });
  }

  #loadPrompts(paths: readonly string[]): Loaded["prompts"] {
    const files = paths.flatMap((path) => (existsSync(path) ? findResources("prompts", path) : [path]));
    return loadPromptTemplates(files, (path) => {
      const scope = this.#metadata.get(path)?.scope;
      return scope === "user" || scope === "project" ? scope : "path";
    });
  }

  async #loadExtensions(paths: readonly string[]): Promise<LoadExtensionsResult> {
    const result = await loadExtensions([...new Set(paths)], this.#cwd, this.#events);
    for (const [index, inline] of (this.#options.extensionFactories ?? []).entries()) {
      const { name, factory } = typeof inline === "function" ? { name: index + 1, factory: inline } : inline;
      const path = `<inline:${name}>`;
      await loadExtensionFromFactory(factory, this.#cwd, this.#events, result.runtime, path).then(
        (extension) => void result.extensions.push(extension),
        (error: unknown) => void result.errors.push({ path, error: getErrorMessage(error) }),
      );
    }
    result.errors.push(...findConflicts(result.extensions));
    return result;
  }

  /** Finds a file of the project, else of the user. */
  #findPromptFile(name: string): string | undefined {
    const own = this.#settings.isProjectTrusted() ? [join(this.#cwd, CONFIG_DIR_NAME, name)] : [];
    const paths = [...own, join(this.#agentDir, name)];
    return paths.find((path) => existsSync(path));
  }
}

/** Adds the items whose names are not there yet. */
function addNamed<Item extends { name?: string | undefined }>(base: readonly Item[], more: readonly Item[]): Item[] {
  const known = new Set(base.map(({ name }) => name));
  return [...base, ...more.filter(({ name }) => !known.has(name))];
}

const listEnabled = (found: ResolvedPaths, kind: ResourceKind): string[] =>
  found[kind].filter(({ enabled }) => enabled).map(({ path }) => path);

/** The content of a file, or the text itself. */
const toText = (text: string): string => (isFile(text) ? readFileSync(text, "utf8") : text);

const toSource = (text: string): PromptSource[] => (isFile(text) ? [{ path: text }] : []);

const isFile = (text: string): boolean => !text.includes("\n") && existsSync(text);

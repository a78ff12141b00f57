/** pi's `DefaultPackageManager`: finds the resources of settings, directories and packages that are there. */
import { existsSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { readManifest, listResources, type PackageSource, parseSource } from "@tau/config/installs";
import { CONFIG_DIR_NAME, expandHome } from "@tau/pi/internal";
import type { SettingsManager } from "../settings/settings-manager.ts";
import { findResources, resolveEntry, selectEnabled, splitEntries } from "./find-resources.ts";
import { type PiSource, toPiSource } from "./pi-source.ts";
import {
  PathCollector,
  type PathMetadata,
  type ResolvedPaths,
  type ResourceKind,
  resourceKinds,
} from "./resolved-paths.ts";

export interface PackageManagerOptions {
  cwd: string;
  agentDir: string;
  settingsManager: SettingsManager;
}

type SettingsScope = "user" | "project";

interface ConfiguredPackage {
  source: string;
  scope: SettingsScope;
  /** Whether the entry chooses among the package's resources. */
  filtered: boolean;
  installedPath?: string;
}

type DetailedEntry = { source: string; autoload?: boolean } & Partial<Record<ResourceKind, string[]>>;
type PackageEntry = string | DetailedEntry;
type Progress = (event: { type: string; action: string; source: string; message?: string }) => void;

const toDetailed = (entry: PackageEntry): DetailedEntry => (typeof entry === "string" ? { source: entry } : entry);

export class DefaultPackageManager {
  readonly #options: PackageManagerOptions;
  #progress: Progress | undefined;

  constructor(options: PackageManagerOptions) {
    this.#options = options;
  }

  setProgressCallback(callback: Progress | undefined): void {
    this.#progress = callback;
  }

  /** `onMissing` is asked about packages that are not there; without it they are left out. */
  async resolve(onMissing?: (source: string) => Promise<"install" | "skip" | "error">): Promise<ResolvedPaths> {
    const found = new PathCollector();
    for (const { entry, scope } of this.#listPackages()) {
      const root = this.#findPackage(entry.source, scope);
      if (root !== undefined) await this.#addPackage(found, entry, scope, root);
      else if ((await onMissing?.(entry.source)) === "error") throw new Error(`Missing source: ${entry.source}`);
    }
    for (const scope of this.#scopes) this.#addSettings(found, scope);
    for (const scope of this.#scopes) this.#addDirectories(found, scope);
    return found.getPaths();
  }

  /** Nothing is loaded of a project that is not trusted. */
  get #scopes(): readonly SettingsScope[] {
    return this.#options.settingsManager.isProjectTrusted() ? ["project", "user"] : ["user"];
  }

  /** Resolves sources that somebody named, such as with `-e`. */
  async resolveExtensionSources(
    sources: readonly string[],
    { local = false, temporary = false }: { local?: boolean; temporary?: boolean } = {},
  ): Promise<ResolvedPaths> {
    const found = new PathCollector();
    const scope = temporary ? "temporary" : local ? "project" : "user";
    for (const source of sources) {
      const parsed = parseSource(source.includes(":") ? source : resolve(this.#options.cwd, source), this.#options.cwd);
      const root = parsed.kind === "local" ? parsed.path : this.#findPackage(source, local ? "project" : "user");
      if (root === undefined) throw new Error(`There is nothing at ${source}. ${install(source)}`);
      if (existsSync(root)) await this.#addPackage(found, { source }, scope, root);
    }
    return found.getPaths();
  }

  /** Packages from npm and git are installed by tau itself, which locks and checks them. */
  async install(source: string, _options?: { local?: boolean }): Promise<void> {
    this.#progress?.({ type: "start", action: "install", source });
    const parsed = parseSource(source, this.#options.cwd);
    const isThere = parsed.kind === "local" && existsSync(parsed.path);
    const message = parsed.kind === "local" ? `Path does not exist: ${source}` : install(source);
    this.#progress?.({ type: isThere ? "complete" : "error", action: "install", source, ...(!isThere && { message }) });
    if (!isThere) throw new Error(message);
  }

  async installAndPersist(source: string, options?: { local?: boolean }): Promise<void> {
    await this.install(source, options);
    this.addSourceToSettings(source, options);
  }

  /** False if it was not in the settings. */
  async removeAndPersist(source: string, options?: { local?: boolean }): Promise<boolean> {
    await this.remove(source, options);
    return this.removeSourceFromSettings(source, options);
  }

  async remove(source: string, _options?: { local?: boolean }): Promise<void> {
    if (parseSource(source, this.#options.cwd).kind === "local") return;
    throw new Error(`Use \`tau remove ${source}\`.`);
  }

  async update(source?: string): Promise<void> {
    throw new Error(`Use \`tau update${source === undefined ? "" : ` ${source}`}\`.`);
  }

  /** False if it is there already. */
  addSourceToSettings(source: string, { local = false }: { local?: boolean } = {}): boolean {
    const scope = local ? "project" : "user";
    const entries = this.#getEntries(scope);
    const written = this.#toWritten(source, scope);
    if (entries.some((entry) => this.#isSame(toDetailed(entry).source, written, scope))) return false;
    this.#setEntries(scope, [...entries, written]);
    return true;
  }

  removeSourceFromSettings(source: string, { local = false }: { local?: boolean } = {}): boolean {
    const scope = local ? "project" : "user";
    const entries = this.#getEntries(scope);
    const written = this.#toWritten(source, scope);
    const left = entries.filter((entry) => !this.#isSame(toDetailed(entry).source, written, scope));
    if (left.length === entries.length) return false;
    this.#setEntries(scope, left);
    return true;
  }

  parseSource(source: string): PiSource {
    return toPiSource(source);
  }

  /** Returns a name that is equal for all spellings of a source. */
  getPackageIdentity(source: string, scope?: SettingsScope): string {
    const parsed = toPiSource(source);
    if (parsed.type === "npm") return `npm:${parsed.name}`;
    if (parsed.type === "git") return `git:${parsed.host}/${parsed.path}`;
    return `local:${resolveEntry(scope === undefined ? this.#options.cwd : this.#getBaseDir(scope), parsed.path)}`;
  }

  getInstalledPath(source: string, scope: SettingsScope): string | undefined {
    return this.#findPackage(source, scope);
  }

  /** Lists the packages of the settings, whether they are installed or not. */
  listConfiguredPackages(): ConfiguredPackage[] {
    return (["user", "project"] as const).flatMap((scope) =>
      this.#getEntries(scope).map((entry) => {
        const { source } = toDetailed(entry);
        const installedPath = this.#findPackage(source, scope);
        const filtered = typeof entry !== "string";
        return { source, scope, filtered, ...(installedPath !== undefined && { installedPath }) };
      }),
    );
  }

  /** A project's entry takes the place of the user's. */
  #listPackages(): { entry: DetailedEntry; scope: SettingsScope }[] {
    const all = this.#scopes.flatMap((scope) =>
      this.#getEntries(scope).map((entry) => ({ entry: toDetailed(entry), scope })),
    );
    const seen = new Set<string>();
    return all.filter(({ entry, scope }) => {
      const id = this.#getId(entry.source, scope);
      if (seen.has(id)) return false;
      seen.add(id);
      return true;
    });
  }

  async #addPackage(
    found: PathCollector,
    entry: DetailedEntry,
    scope: PathMetadata["scope"],
    root: string,
  ): Promise<void> {
    const metadata: PathMetadata = { source: entry.source, scope, origin: "package", baseDir: root };
    if (!statSync(root).isDirectory()) {
      found.add("extensions", { path: root, enabled: true, metadata: { ...metadata, baseDir: dirname(root) } });
      return;
    }
    const names = listResources(root, readManifest(root));
    if (resourceKinds.every((kind) => names[kind].length === 0)) {
      // Not a package, but perhaps the directory of one extension.
      for (const path of findResources("extensions", root)) found.add("extensions", { path, enabled: true, metadata });
      return;
    }
    for (const kind of resourceKinds) {
      const paths = names[kind].map((name) => join(root, name));
      const filter = entry[kind];
      const enabled = filter?.length === 0 ? new Set<string>() : selectEnabled(paths, filter ?? [], root);
      for (const path of paths) found.add(kind, { path, enabled: enabled.has(path), metadata });
    }
  }

  #addSettings(found: PathCollector, scope: SettingsScope): void {
    const baseDir = this.#getBaseDir(scope);
    for (const kind of resourceKinds) {
      const { paths, patterns } = splitEntries(this.#getList(kind, scope));
      const files = paths.flatMap((path) => findResources(kind, resolveEntry(baseDir, path)));
      this.#addAll(found, kind, {
        files,
        patterns,
        metadata: { source: "local", scope, origin: "top-level", baseDir },
      });
    }
  }

  /** Adds the resources of the usual directories. */
  #addDirectories(found: PathCollector, scope: SettingsScope): void {
    const baseDir = this.#getBaseDir(scope);
    for (const kind of resourceKinds) {
      const { patterns } = splitEntries(this.#getList(kind, scope));
      const files = findResources(kind, join(baseDir, kind));
      this.#addAll(found, kind, { files, patterns, metadata: { source: "auto", scope, origin: "top-level", baseDir } });
    }
    for (const directory of scope === "user" ? [join(homedir(), ".agents")] : this.#listAgentsDirectories()) {
      const { patterns } = splitEntries(this.#getList("skills", scope));
      const metadata: PathMetadata = { source: "auto", scope, origin: "top-level", baseDir: directory };
      this.#addAll(found, "skills", { files: findResources("skills", join(directory, "skills")), patterns, metadata });
    }
  }

  #addAll(
    found: PathCollector,
    kind: ResourceKind,
    { files, patterns, metadata }: { files: string[]; patterns: readonly string[]; metadata: PathMetadata },
  ): void {
    // A pattern that only adds does not take anything away from what a directory has.
    const signed = patterns.filter((pattern) => /^[!+-]/.test(pattern));
    const enabled = selectEnabled(files, signed, metadata.baseDir!);
    for (const path of files) found.add(kind, { path, enabled: enabled.has(path), metadata });
  }

  /** From the working directory up to the root of its repository. The user's own is not the project's. */
  #listAgentsDirectories(): string[] {
    const directories: string[] = [];
    for (let current = resolve(this.#options.cwd); ; current = dirname(current)) {
      if (current !== resolve(homedir())) directories.push(join(current, ".agents"));
      if (existsSync(join(current, ".git")) || dirname(current) === current) return directories;
    }
  }

  #findPackage(source: string, scope: SettingsScope): string | undefined {
    const baseDir = this.#getBaseDir(scope);
    const parsed = this.#parse(source, scope);
    const path = parsed && getInstallPath(parsed, baseDir);
    return path !== undefined && existsSync(path) ? path : undefined;
  }

  #parse(source: string, scope: SettingsScope): PackageSource | undefined {
    const parsed = parseSource(source, this.#getBaseDir(scope), expandHome);
    return parsed.kind === "invalid" ? undefined : parsed;
  }

  #getId(source: string, scope: SettingsScope): string {
    return this.#parse(source, scope)?.id ?? source;
  }

  #isSame(a: string, b: string, scope: SettingsScope): boolean {
    return this.#getId(a, scope) === this.#getId(b, scope);
  }

  /** A path that a person typed is relative to where they are; in settings it is relative to their file. */
  #toWritten(source: string, scope: SettingsScope): string {
    const parsed = parseSource(source, this.#options.cwd, expandHome);
    if (parsed.kind !== "local" || !/^\.{1,2}(\/|$)/.test(source)) return source;
    const path = relative(this.#getBaseDir(scope), parsed.path);
    return path.startsWith(".") ? path : `./${path}`;
  }

  #getBaseDir(scope: SettingsScope): string {
    return scope === "user" ? this.#options.agentDir : join(this.#options.cwd, CONFIG_DIR_NAME);
  }

  #getValues(scope: SettingsScope): Record<string, unknown> {
    const { settingsManager } = this.#options;
    return scope === "user" ? settingsManager.getGlobalSettings() : settingsManager.getProjectSettings();
  }

  #getEntries(scope: SettingsScope): PackageEntry[] {
    return (this.#getValues(scope)["packages"] ?? []) as PackageEntry[];
  }

  #getList(kind: ResourceKind, scope: SettingsScope): string[] {
    return (this.#getValues(scope)[kind] ?? []) as string[];
  }

  #setEntries(scope: SettingsScope, entries: PackageEntry[]): void {
    this.#options.settingsManager.set(["packages"], entries, scope === "user" ? "global" : "project");
  }
}

const install = (source: string): string => `Install it with \`tau install ${source}\`.`;

function getInstallPath(source: PackageSource, baseDir: string): string {
  switch (source.kind) {
    case "local":
      return source.path;
    case "npm":
      return join(baseDir, "npm", "node_modules", source.name);
    case "git":
      return join(baseDir, "git", ...source.directory);
    case "plugin":
      return join(baseDir, "plugin", source.marketplace, source.name);
  }
}

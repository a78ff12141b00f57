/**
 * pi's `SettingsManager`: settings that are read and written at once. The project's precede the user's. Its getters
 * and setters are the rows of `fields`.
 */
import { randomUUID } from "node:crypto";
import { getAgentDir, toError } from "@tau/pi/internal";
import { type Field, fields, projectFields } from "./fields.ts";
import { FileSettingsStorage, InMemorySettingsStorage, type SettingsScope, type SettingsStorage } from "./storage.ts";
import { editText, getAt, mergeValues, parseValues, type Values, withValue } from "./values.ts";

interface SettingsError {
  scope: SettingsScope;
  error: Error;
}

interface Layer {
  values: Values;
  /** Why the file could not be read. Such a file is not changed. */
  error?: Error;
}

class SettingsManagerBase {
  readonly #storage: SettingsStorage;
  #layers: Record<SettingsScope, Layer>;
  /** Values that apply to this process only. */
  #overrides: Values = {};
  #errors: SettingsError[] = [];
  #isProjectTrusted: boolean;

  constructor(storage: SettingsStorage, isProjectTrusted = true) {
    this.#storage = storage;
    this.#isProjectTrusted = isProjectTrusted;
    this.#layers = { global: this.#load("global"), project: this.#load("project") };
  }

  getSettings(): Values {
    const project = this.#isProjectTrusted ? this.#layers.project.values : {};
    return structuredClone(mergeValues(mergeValues(this.#layers.global.values, project), this.#overrides));
  }

  getGlobalSettings(): Values {
    return structuredClone(this.#layers.global.values);
  }

  getProjectSettings(): Values {
    return structuredClone(this.#layers.project.values);
  }

  isProjectTrusted(): boolean {
    return this.#isProjectTrusted;
  }

  setProjectTrusted(isTrusted: boolean): void {
    this.#isProjectTrusted = isTrusted;
  }

  /** A file that cannot be read any more leaves its settings as they were. */
  async reload(): Promise<void> {
    for (const scope of ["global", "project"] as const) {
      const layer = this.#load(scope);
      this.#layers[scope] = layer.error ? { values: this.#layers[scope].values, error: layer.error } : layer;
    }
  }

  applyOverrides(overrides: Values): void {
    this.#overrides = mergeValues(this.#overrides, overrides);
  }

  /** Everything is written when a setter returns. */
  async flush(): Promise<void> {}

  /** The problems since the last call. */
  drainErrors(): SettingsError[] {
    return this.#errors.splice(0);
  }

  get(path: readonly string[]): unknown {
    return getAt(this.getSettings(), path);
  }

  /** Changes this value in its file, where the others stay as they are, and ends its override. Undefined removes it. */
  set(path: readonly string[], value: unknown, scope: SettingsScope = "global"): void {
    const layer = this.#layers[scope];
    this.#layers[scope] = { ...layer, values: withValue(layer.values, path, value) };
    this.#overrides = withValue(this.#overrides, path, undefined);
    if (layer.error) return;
    try {
      this.#storage.withLock(scope, (text) => {
        parseValues(text);
        return editText(text?.trim() ? text : "{}\n", path, value);
      });
    } catch (error) {
      this.#errors.push({ scope, error: toError(error) });
    }
  }

  getCompactionSettings(): { enabled: boolean; reserveTokens: number; keepRecentTokens: number } {
    return { enabled: true, reserveTokens: 16_384, keepRecentTokens: 20_000, ...(this.get(["compaction"]) as object) };
  }

  getBranchSummarySettings(): { reserveTokens: number; skipPrompt: boolean } {
    return { reserveTokens: 16_384, skipPrompt: false, ...(this.get(["branchSummary"]) as object) };
  }

  getRetrySettings(): { enabled: boolean; maxRetries: number; baseDelayMs: number; maxDelayMs: number } {
    return { enabled: true, maxRetries: 3, baseDelayMs: 2_000, maxDelayMs: 60_000, ...(this.get(["retry"]) as object) };
  }

  getProviderRetrySettings(): { timeoutMs?: number; maxRetries?: number; maxRetryDelayMs: number } {
    return { maxRetryDelayMs: 60_000, ...(this.get(["retry", "provider"]) as object) };
  }

  getTerminalCapabilityOverrides(): Values {
    const { hyperlinks, images, trueColor } = (this.get(["terminal"]) ?? {}) as Values;
    return Object.fromEntries(
      Object.entries({ hyperlinks, images, trueColor }).filter(([, value]) => value !== undefined && value !== "auto"),
    );
  }

  /** Undefined for a pair of themes, which `getThemeSetting` gives. */
  getTheme(): string | undefined {
    const theme = this.get(["theme"]);
    return typeof theme === "string" && !theme.includes("/") ? theme : undefined;
  }

  setTheme(theme: string): void {
    this.set(["theme"], theme);
  }

  /** Reads the settings of the user only: a project does not decide whether it is trusted. */
  getDefaultProjectTrust(): "ask" | "always" | "never" {
    const trust = this.#layers.global.values["defaultProjectTrust"];
    return trust === "always" || trust === "never" ? trust : "ask";
  }

  setDefaultProjectTrust(trust: "ask" | "always" | "never"): void {
    this.set(["defaultProjectTrust"], trust);
  }

  getExtensionChangelogVersion(extension: string): string | undefined {
    return this.get(["extensionChangelogVersions", extension]) as string | undefined;
  }

  setExtensionChangelogVersion(extension: string, version: string): void {
    this.set(["extensionChangelogVersions", extension], version);
  }

  /** Stays the same for this user. tau itself sends it to nobody. */
  getOrCreateDeviceId(): string {
    const stored = this.#layers.global.values["deviceId"];
    if (typeof stored === "string") return stored;
    const id = randomUUID();
    this.set(["deviceId"], id);
    return id;
  }

  setDefaultModelAndProvider(provider: string, modelId: string): void {
    this.set(["defaultProvider"], provider);
    this.set(["defaultModel"], modelId);
  }

  getAllModelThinkingLevels(): Record<string, string> {
    return (this.get(["modelThinkingLevels"]) ?? {}) as Record<string, string>;
  }

  getModelThinkingLevel(provider: string, modelId: string): string | undefined {
    return this.getAllModelThinkingLevels()[`${provider}/${modelId}`];
  }

  setModelThinkingLevel(provider: string, modelId: string, level: string): void {
    this.set(["modelThinkingLevels", `${provider}/${modelId}`], level);
  }

  removeModelThinkingLevel(provider: string, modelId: string): void {
    this.set(["modelThinkingLevels", `${provider}/${modelId}`], undefined);
  }

  #load(scope: SettingsScope): Layer {
    try {
      let values: Values = {};
      this.#storage.withLock(scope, (text) => {
        values = parseValues(text);
        return undefined;
      });
      return { values };
    } catch (error) {
      this.#errors.push({ scope, error: toError(error) });
      return { values: {}, error: toError(error) };
    }
  }
}

type Getters = Record<`get${keyof typeof fields}`, () => unknown>;
type Setters = Record<
  `set${keyof typeof fields}` | `setProject${(typeof projectFields)[number]}`,
  (value: unknown) => void
>;

/** With the methods of `fields`. */
export type SettingsManager = SettingsManagerBase & Getters & Setters;

const create = (storage: SettingsStorage, { projectTrusted = true }: { projectTrusted?: boolean } = {}) =>
  new SettingsManagerBase(storage, projectTrusted) as SettingsManager;

export const SettingsManager = Object.assign(SettingsManagerBase, {
  create: (cwd: string = process.cwd(), agentDir: string = getAgentDir(), options?: { projectTrusted?: boolean }) =>
    create(new FileSettingsStorage(cwd, agentDir), options),
  fromStorage: create,
  inMemory(settings: Values = {}, options?: { projectTrusted?: boolean }): SettingsManager {
    const storage = new InMemorySettingsStorage();
    storage.withLock("global", () => JSON.stringify(settings));
    return create(storage, options);
  },
});

for (const [name, row] of Object.entries<Field>(fields)) {
  addMethod(`get${name}`, function (this: SettingsManagerBase) {
    return limit(row, this.get(row.path) ?? structuredClone(row.default));
  });
  if (row.isReadOnly) continue;
  addMethod(`set${name}`, function (this: SettingsManagerBase, value: unknown) {
    this.set(row.path, limit(row, value));
  });
}
for (const name of projectFields) {
  addMethod(`setProject${name}`, function (this: SettingsManagerBase, value: unknown) {
    this.set(fields[name].path, value, "project");
  });
}

function addMethod(name: string, method: (this: SettingsManagerBase, value: unknown) => unknown): void {
  Object.defineProperty(SettingsManagerBase.prototype, name, { value: method, configurable: true, writable: true });
}

function limit({ min, max }: Field, value: unknown): unknown {
  if (typeof value !== "number" || (min === undefined && max === undefined)) return value;
  return Math.max(min ?? Number.NEGATIVE_INFINITY, Math.min(max ?? Number.POSITIVE_INFINITY, Math.floor(value)));
}

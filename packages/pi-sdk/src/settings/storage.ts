/** The files that settings are in, or what stands for them. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CONFIG_DIR_NAME, replaceFile } from "@tau/pi/internal";

export type SettingsScope = "global" | "project";

export interface SettingsStorage {
  /** Calls `change` with the text of a file, and writes what it returns. Undefined: there is none, or it stays. */
  withLock(scope: SettingsScope, change: (current: string | undefined) => string | undefined): void;
}

export class FileSettingsStorage implements SettingsStorage {
  readonly #paths: Readonly<Record<SettingsScope, string>>;

  constructor(cwd: string, agentDir: string) {
    this.#paths = {
      global: join(agentDir, "settings.json"),
      project: join(cwd, CONFIG_DIR_NAME, "settings.json"),
    };
  }

  withLock(scope: SettingsScope, change: (current: string | undefined) => string | undefined): void {
    const path = this.#paths[scope];
    const next = change(existsSync(path) ? readFileSync(path, "utf8") : undefined);
    if (next !== undefined) replaceFile(path, next);
  }
}

export class InMemorySettingsStorage implements SettingsStorage {
  readonly #texts = new Map<SettingsScope, string>();

  withLock(scope: SettingsScope, change: (current: string | undefined) => string | undefined): void {
    const next = change(this.#texts.get(scope));
    if (next !== undefined) this.#texts.set(scope, next);
  }
}

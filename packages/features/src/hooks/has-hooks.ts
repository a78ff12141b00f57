/** Finds out at the start whether there are hooks, so that sessions without any load no code for them. */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { systemCode } from "@tau/tools/platform";
import { resolveFields } from "@tau/config/settings";
import type { FeaturePlace } from "@tau/extensions";
import { hookEventNames } from "./events.ts";
import { hookSettings } from "./settings.ts";

type HooksPlace = Pick<FeaturePlace, "cwd" | "settings">;

interface ClaudeFile {
  readonly path: string;
  readonly scope: "user" | "project";
}

/** Lists the files of Claude Code that count here, whether they exist or not. */
export function listClaudeFiles({ cwd, settings }: HooksPlace, home = homedir()): ClaudeFile[] {
  const { claudeHooks } = resolveFields(hookSettings, settings.get());
  const directory = join(cwd, ".claude");
  const names = settings.isProjectTrusted && claudeHooks !== "off" ? ["settings.json", "settings.local.json"] : [];
  const isHome = join(home, ".claude") === directory;
  return [
    ...(claudeHooks === "all" ? [{ path: join(home, ".claude", "settings.json"), scope: "user" } as const] : []),
    ...(isHome ? [] : names.map((name) => ({ path: join(directory, name), scope: "project" }) as const)),
  ];
}

/** The text of a small file; undefined if there is none that can be read. */
function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

export function hasHooks(place: HooksPlace): boolean {
  const { hooks } = resolveFields(hookSettings, place.settings.get());
  if (hookEventNames.some((name) => hooks[name]?.length)) return true;
  return listClaudeFiles(place).some(({ path }) => readText(path)?.includes('"hooks"'));
}

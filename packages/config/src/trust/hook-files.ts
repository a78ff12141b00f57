/** Finds the files of a project that commands of hooks name. What they run belongs to what a person trusts. */
import { join, resolve } from "node:path";
import { isRecord } from "@tau/ai/internal";
import { type FileSystem, isWithin, lookAt, nodeFileSystem } from "@tau/tools/platform";

/** Lists every command in hooks of Claude Code's form. Pure. */
export function listHookCommands(hooks: unknown): string[] {
  const groups = Object.values(isRecord(hooks) ? hooks : {}).flat() as unknown[];
  const entries = groups.flatMap((group) => (isRecord(group) ? ([group["hooks"]].flat() as unknown[]) : []));
  return entries.flatMap((hook) => (isRecord(hook) && typeof hook["command"] === "string" ? [hook["command"]] : []));
}

/** A word of a shell, with its quotes. What separates commands and assignments separates words. */
const word = /(?:"[^"]*"|'[^']*'|\\.|[^\s"'\\;|&<>()=`])+/g;

/** Lists what a command may name as a file of the project, as absolute paths. Pure. */
export function listWords(command: string, project: string): string[] {
  const filled = command.replaceAll(
    /\$(?:\{(?:CLAUDE|TAU)_PROJECT_DIR\}|(?:CLAUDE|TAU)_PROJECT_DIR\b|PWD\b|\{PWD\})/g,
    () => project,
  );
  const words = Array.from(filled.matchAll(word), ([text]) => text.replaceAll(/["']|\\(?=.)/g, ""));
  // A quoted text may be a command of its own, as after `bash -c`.
  const inner = words.flatMap((text) => (/\s/.test(text) ? [text, ...text.split(/[\s;|&<>()=]+/)] : [text]));
  const paths = inner.filter((text) => text !== "" && !text.includes("\0")).map((text) => resolve(project, text));
  return [...new Set(paths)].filter((path) => isWithin(project, path) && path !== project);
}

/** Lists the files of a project that a command names, whether it runs them or only reads them. */
export async function listCommandFiles(
  command: string,
  project: string,
  fs: FileSystem = nodeFileSystem,
): Promise<string[]> {
  const paths = listWords(command, project);
  const kinds = await Promise.all(paths.map((path) => lookAt(fs, path)));
  return paths.filter((_path, index) => kinds[index]?.isFile());
}

/** The settings files of Claude Code in a project. */
export const claudeSettings = [join(".claude", "settings.json"), join(".claude", "settings.local.json")];

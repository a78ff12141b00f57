/** What a surface lists after a slash. */
import { dirname, relative } from "node:path";
import type { SlashCommandData } from "@tau/protocol";
import type { AgentSession } from "./agent-session.ts";

/** The commands of extensions, the templates and the skills that can be called with a slash. */
export function listSlashCommands({ resourceLoader, settings, cwd, extensions }: AgentSession): SlashCommandData[] {
  const { promptTemplates, skills } = resourceLoader.resources;
  const getSourceInfo = (path: string): SlashCommandData["sourceInfo"] => {
    const isInProject = !relative(cwd, dirname(path)).startsWith("..");
    return { path, source: "local", scope: isInProject ? "project" : "user", origin: "top-level" };
  };
  const templates = promptTemplates.map(({ name, description, filePath }): SlashCommandData => {
    return { name, description, source: "prompt", sourceInfo: getSourceInfo(filePath) };
  });
  const commands = [...(extensions?.describeCommands() ?? []), ...templates];
  if (!settings.enableSkillCommands) return commands;
  const skillCommands = skills.map(({ name, description, filePath, baseDir }): SlashCommandData => {
    const sourceInfo = { ...getSourceInfo(filePath), baseDir };
    return { name: `skill:${name}`, description, source: "skill", sourceInfo };
  });
  return [...commands, ...skillCommands];
}

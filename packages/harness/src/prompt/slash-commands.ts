/** Lists the commands that a surface offers after a slash. */
import { homedir } from "node:os";
import { dirname, join, relative } from "node:path";
import { isWithin } from "@tau/tools/platform";
import type { ResourceLoader } from "@tau/config/resources";
import type { Settings } from "@tau/config/settings";
import type { SlashCommandData } from "@tau/protocol";

/** The parts of a session that have slash commands. */
export interface SlashCommandSource {
  readonly cwd: string;
  readonly settings: Pick<Settings, "enableSkillCommands">;
  readonly resourceLoader: Pick<ResourceLoader, "resources">;
  describeExtensionCommands(): SlashCommandData[];
}

/** Lists the commands of extensions, the templates and the skills. */
export function listSlashCommands(session: SlashCommandSource): SlashCommandData[] {
  const { resourceLoader, settings, cwd } = session;
  const { promptTemplates, skills } = resourceLoader.resources;
  const getSourceInfo = (path: string): SlashCommandData["sourceInfo"] => {
    // In the home directory the user's own files are below the working directory.
    const isShared = isWithin(join(homedir(), ".agents"), path);
    const isInProject = !isShared && !relative(cwd, dirname(path)).startsWith("..");
    return { path, source: "local", scope: isInProject ? "project" : "user", origin: "top-level" };
  };
  const templates = promptTemplates.map(({ name, description, argumentHint, filePath }): SlashCommandData => {
    const hint = argumentHint !== undefined && { argumentHint };
    return { name, description, ...hint, source: "prompt", sourceInfo: getSourceInfo(filePath) };
  });
  const commands = [...session.describeExtensionCommands(), ...templates];
  if (!settings.enableSkillCommands) return commands;
  const skillCommands = skills.map(({ name, description, filePath, baseDir }): SlashCommandData => {
    const sourceInfo = { ...getSourceInfo(filePath), baseDir };
    return { name: `skill:${name}`, description, source: "skill", sourceInfo };
  });
  return [...commands, ...skillCommands];
}

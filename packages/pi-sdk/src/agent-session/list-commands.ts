/** Lists what a person can call with a slash: commands of extensions, prompts and skills. */
import type { SlashCommandData } from "@tau/protocol";
import type { RegisteredCommand } from "../extensions/extension.ts";
import type { PromptTemplate } from "../resources/prompt-templates.ts";
import { createSyntheticSourceInfo, type Skill } from "@tau/pi/internal";

interface CommandSources {
  commands: readonly { command: RegisteredCommand; extensionPath: string }[];
  templates: readonly PromptTemplate[];
  skills: readonly Skill[];
}

/** `path` and `location` are read by extensions for versions of pi before 1.5, `sourceInfo` by later ones. */
export function listCommands({ commands, templates, skills }: CommandSources): SlashCommandData[] {
  return [
    ...commands.map(({ command: { name, description }, extensionPath }) =>
      describe("extension", { name, description, path: extensionPath, source: "extension" }),
    ),
    ...templates.map(({ name, description, filePath, source }) =>
      describe("prompt", { name, description, path: filePath, source }),
    ),
    ...skills.map(({ name, description, filePath, source }) =>
      describe("skill", { name: `skill:${name}`, description, path: filePath, source }),
    ),
  ];
}

function describe(
  kind: SlashCommandData["source"],
  { name, description, path, source }: { name: string; description?: string | undefined; path: string; source: string },
): SlashCommandData {
  const scope = source === "user" || source === "project" ? source : "temporary";
  const location = ["user", "project", "path"].includes(source) ? source : undefined;
  const sourceInfo = createSyntheticSourceInfo(path, { source, scope });
  const command = { name, description, source: kind, path, ...(location !== undefined && { location }), sourceInfo };
  return command as unknown as SlashCommandData;
}

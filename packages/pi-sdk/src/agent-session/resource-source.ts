import type { LoadExtensionsResult } from "../extensions/extension.ts";
import type { TextFile } from "../resources/context-files.ts";
import type { PromptTemplate } from "../resources/prompt-templates.ts";
import type { Skill } from "@tau/pi/internal";
import type { ExtendedPaths } from "./discovered-paths.ts";

/** The members of a resource loader that a session uses. */
export interface ResourceSource {
  getExtensions(): LoadExtensionsResult;
  getSkills(): { skills: Skill[] };
  getPrompts(): { prompts: PromptTemplate[] };
  getAgentsFiles(): { agentsFiles: TextFile[] };
  getSystemPrompt(): string | undefined;
  getAppendSystemPrompt(): string[];
  reload(): Promise<void>;
  /** Adds what extensions found, until the next `reload`. */
  extendResources?(paths: ExtendedPaths): void;
}

/** The parts of the system prompt that handlers of `before_agent_start` may look at and change. */
import type { TextFile } from "@tau/config/internal";
import type { Skill } from "@tau/config/resources";

export interface SystemPromptOptions {
  cwd: string;
  /** Takes the place of the default text. */
  customPrompt?: string;
  /** Follows the default or the custom text. */
  appendSystemPrompt?: string;
  selectedTools: string[];
  toolSnippets: Record<string, string>;
  promptGuidelines: string[];
  /** More sections, by their names: each stands between tags of its name, after `appendSystemPrompt`. */
  sections: Record<string, string>;
  contextFiles: TextFile[];
  skills: Skill[];
  /** Set by a handler that replaces the whole prompt. */
  forceSystemPrompt?: string;
}

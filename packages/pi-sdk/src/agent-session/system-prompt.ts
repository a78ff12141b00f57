/** The system prompt of a session. */
import type { TextFile } from "../resources/context-files.ts";
import { formatSkillsForPrompt, type Skill } from "@tau/pi/internal";
import type { ToolLines } from "./tool-set.ts";

interface PromptParts {
  cwd: string;
  /** Takes the place of the text of ours. */
  customPrompt: string | undefined;
  appended: readonly string[];
  tools: readonly ToolLines[];
  contextFiles: readonly TextFile[];
  skills: readonly Skill[];
}

export function buildSystemPrompt({ cwd, customPrompt, appended, tools, contextFiles, skills }: PromptParts): string {
  const listed = tools.filter(({ snippet }) => snippet !== undefined);
  const guidelines = [...new Set(tools.flatMap((tool) => tool.guidelines))];
  const own = [
    "You help a person with their code. You read files, run commands, and change files with the tools that you have.",
    ...(listed.length > 0
      ? [["Tools:", ...listed.map(({ name, snippet }) => `- ${name}: ${snippet}`)].join("\n")]
      : []),
    ...(guidelines.length > 0 ? [["Guidelines:", ...guidelines.map((line) => `- ${line}`)].join("\n")] : []),
  ];
  const files = contextFiles.map(({ path, content }) => `## ${path}\n\n${content}`);
  const canRead = tools.some(({ name }) => name === "read");
  return [
    ...(customPrompt === undefined ? own : [customPrompt]),
    ...appended,
    ...(files.length > 0 ? ["# Project context", ...files] : []),
    ...(canRead ? [formatSkillsForPrompt(skills).trim()] : []),
    `Current date: ${new Date().toISOString().slice(0, 10)}\nCurrent working directory: ${cwd}`,
  ]
    .filter(Boolean)
    .join("\n\n");
}

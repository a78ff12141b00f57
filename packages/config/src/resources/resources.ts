/** The files that users write for an agent, as they were read. */
import { join } from "node:path";
import type { TextFile } from "./context-files.ts";
import type { NamedAgent } from "./agent-definition.ts";
import type { PromptTemplate } from "./prompt-templates.ts";
import type { Skill } from "./skills.ts";

export interface Resources {
  /** The named agent, else the agent files of the agent directory itself, if it has some. Its prompt is in `systemPrompt`. */
  agent: NamedAgent | undefined;
  /** Replaces the default system prompt. */
  systemPrompt: TextFile | undefined;
  appendSystemPrompt: TextFile | undefined;
  /** The last has precedence. */
  contextFiles: readonly TextFile[];
  skills: readonly Skill[];
  promptTemplates: readonly PromptTemplate[];
}

export type ResourceName = keyof Resources;

export const noResources: Resources = {
  agent: undefined,
  systemPrompt: undefined,
  appendSystemPrompt: undefined,
  contextFiles: [],
  skills: [],
  promptTemplates: [],
};

export const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Which resources differ. Pure. */
export function changedNames(before: Resources, after: Resources): ResourceName[] {
  const names = Object.keys(noResources) as ResourceName[];
  return names.filter((name) => !isSame(before[name], after[name]));
}

/** The files behind what differs between two states, each once. Pure. */
export function listChangedFiles(before: Resources, after: Resources): string[] {
  const [old, current] = [before, after].map(toFiles) as [Map<string, string>, Map<string, string>];
  return [...new Set([...old.keys(), ...current.keys()])].filter((path) => old.get(path) !== current.get(path));
}

/** Maps each file's path to its content. */
function toFiles({ agent, systemPrompt, appendSystemPrompt, contextFiles, skills, promptTemplates }: Resources) {
  const texts = [systemPrompt, appendSystemPrompt, ...contextFiles].filter((file) => file !== undefined);
  const files = [...skills, ...promptTemplates];
  return new Map([
    ...texts.map(({ path, content }) => [path, content] as const),
    ...files.map((file) => [file.filePath, JSON.stringify(file)] as const),
    ...(agent ? [[getToolsFile(agent), JSON.stringify(agent.definition ? agent : agent.tools)] as const] : []),
  ]);
}

/** The file that says which tools an agent has. */
export const getToolsFile = ({ directory, definition }: NamedAgent): string =>
  definition ? (definition.path ?? "") : join(directory, "tools.yaml");

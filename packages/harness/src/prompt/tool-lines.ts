/** Formats what the tools say about themselves for the default prompt. Pure. */
import type { PromptGuideline, ToolDescription } from "@tau/tools";

export interface PromptTool extends Pick<ToolDescription, "promptSnippet" | "promptGuidelines" | "shows"> {
  name: string;
  description: string;
}

/** The tool that a model reads files with: one that shows parts of files, else one that runs commands. */
export const findReader = (tools: readonly PromptTool[]): PromptTool | undefined =>
  tools.find(({ shows }) => shows === "excerpt") ?? tools.find(({ shows }) => shows === "command");

const maxCharacters = 120;

export function formatToolLine({ name, description, promptSnippet }: PromptTool): string {
  const purpose = promptSnippet === undefined ? getFirstSentence(description) : toOneLine(promptSnippet);
  return purpose === "" ? `- ${name}` : `- ${name}: ${purpose}`;
}

const toOneLine = (text: string) => text.replaceAll(/\s+/g, " ").trim();

/** A description may have any length; one line is enough here. */
function getFirstSentence(description: string): string {
  const plain = toOneLine(description);
  const sentence = /^.*?[.!?](?= |$)/.exec(plain)?.[0].replace(/\.$/, "") ?? plain;
  return sentence.length > maxCharacters ? `${sentence.slice(0, maxCharacters - 1).toWellFormed()}…` : sentence;
}

/** The guidelines of the tools that are there, each once, in the order of the tools. */
export function listGuidelines(tools: readonly PromptTool[]): string[] {
  const names = new Set(tools.map(({ name }) => name));
  const applies = (guideline: PromptGuideline) =>
    typeof guideline === "string" || guideline.with.every((name) => names.has(name));
  const guidelines = tools.flatMap(({ promptGuidelines = [] }) => promptGuidelines.filter(applies));
  const texts = guidelines.map((guideline) => toOneLine(typeof guideline === "string" ? guideline : guideline.text));
  return [...new Set(texts)].filter((text) => text !== "");
}

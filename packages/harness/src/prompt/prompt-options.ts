/** The system prompt as handlers of `before_agent_start` see and change it, and back again. Pure. */
import { getErrorMessage } from "@tau/ai/internal";
import { buildSystemPrompt, type SystemPromptInput } from "./system-prompt.ts";
import { listGuidelines } from "./tool-lines.ts";
import { isPromptOptions } from "@tau/extensions/internal";
import type { SystemPromptOptions } from "@tau/extensions";

export function toPromptOptions(input: SystemPromptInput): SystemPromptOptions {
  const { tools, cwd, custom, append = [], contextFiles = [], skills = [] } = input;
  const snippets = tools.flatMap(({ name, promptSnippet }) =>
    promptSnippet === undefined ? [] : [[name, promptSnippet]],
  );
  return {
    cwd,
    ...(custom !== undefined && { customPrompt: custom }),
    ...(append.length > 0 && { appendSystemPrompt: append.join("\n\n") }),
    selectedTools: tools.map(({ name }) => name),
    toolSnippets: Object.fromEntries(snippets) as Record<string, string>,
    promptGuidelines: listGuidelines(tools),
    sections: {},
    // Copies, since these are the files and skills of the session.
    contextFiles: contextFiles.map((file) => ({ ...file })),
    skills: skills.map((skill) => ({ ...skill })),
  };
}

/** The options as handlers left them; a sentence if they are not valid any more. */
export function readPromptOptions(options: SystemPromptOptions): SystemPromptOptions | string {
  try {
    const copy = structuredClone(options);
    return isPromptOptions(copy) ? copy : "systemPromptOptions has values that it cannot have";
  } catch (error) {
    return `systemPromptOptions cannot be read: ${getErrorMessage(error)}`;
  }
}

/** Renders the prompt with these options. What they do not have comes from `input`. */
export function renderPrompt(options: SystemPromptOptions, input: SystemPromptInput): string {
  if (options.forceSystemPrompt !== undefined) return options.forceSystemPrompt;
  const { customPrompt, appendSystemPrompt, selectedTools, toolSnippets, promptGuidelines, sections } = options;
  const { custom: _custom, ...rest } = input;
  return buildSystemPrompt({
    ...rest,
    cwd: options.cwd,
    tools: input.tools
      .filter(({ name }) => selectedTools.includes(name))
      .map((tool) => ({
        ...tool,
        ...(toolSnippets[tool.name] !== undefined && { promptSnippet: toolSnippets[tool.name] }),
      })),
    guidelines: promptGuidelines,
    contextFiles: options.contextFiles,
    skills: options.skills,
    append: [
      ...(appendSystemPrompt === undefined ? [] : [appendSystemPrompt]),
      ...Object.entries(sections).map(([name, section]) => `<${name}>\n${section}\n</${name}>`),
    ],
    ...(customPrompt !== undefined && { custom: customPrompt }),
  }).text;
}

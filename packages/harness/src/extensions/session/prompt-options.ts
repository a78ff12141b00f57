/** The system prompt as handlers of `before_agent_start` see and change it, and back again. Pure. */
import { buildSystemPrompt, type SystemPromptInput } from "../../prompt/system-prompt.ts";
import { listGuidelines } from "../../prompt/tool-lines.ts";
import type { SystemPromptOptions } from "../system-prompt-options.ts";

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
    contextFiles: [...contextFiles],
    skills: [...skills],
  };
}

/** What the prompt says with these options. What they do not have comes from `input`. */
export function renderPrompt(options: SystemPromptOptions, input: SystemPromptInput): string {
  if (options.forceSystemPrompt !== undefined) return options.forceSystemPrompt;
  const { customPrompt, appendSystemPrompt, selectedTools, toolSnippets, promptGuidelines } = options;
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
    append: appendSystemPrompt === undefined ? [] : [appendSystemPrompt],
    ...(customPrompt !== undefined && { custom: customPrompt }),
  }).text;
}

/** The text of an agent's file: front matter and a prompt. Pure. */
import type { NamedAgent } from "@tau/config/resources";

interface AgentText {
  readonly description: string;
  /** A model as users write it, or a role such as `@smol`. */
  readonly model?: string | undefined;
  readonly tools?: readonly string[] | undefined;
  readonly prompt: string;
}

/** The description is quoted, since a colon or a `#` in it would change its meaning. */
export function formatAgentText({ description, model, tools, prompt }: AgentText): string {
  const fields = [
    `description: ${JSON.stringify(description)}`,
    ...(model === undefined ? [] : [model.startsWith("@") ? `role: ${model.slice(1)}` : `model: ${model}`]),
    ...(tools === undefined ? [] : [`tools: ${tools.join(", ")}`]),
  ];
  return `---\n${fields.join("\n")}\n---\n\n${prompt.trim()}\n`;
}

/** Writes an agent that comes with tau as a file would have it. */
export const formatBuiltInAgent = ({ definition, tools, systemPrompt }: NamedAgent): string =>
  formatAgentText({
    description: definition?.description ?? "",
    model: definition?.model,
    tools: tools.only,
    prompt: systemPrompt?.content ?? "",
  });

/** Whether the front matter sets a policy, which only an agent of the user's own can loosen. */
export const setsPolicy = (text: string): boolean => /^---[^]*?^[ \t]*policy[ \t]*:[^]*?^---/m.test(text);

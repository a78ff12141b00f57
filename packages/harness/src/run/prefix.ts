/**
 * What every request of a session begins with. Providers keep it, and charge a tenth for what they kept: so whatever changes it
 * is named. Pure.
 */
import type { AgentMessage, AgentTool } from "@tau/agent";
import type { Model } from "@tau/ai";
import { toolPrefix } from "../pipeline/stable-order.ts";
import type { PromptSection } from "../prompt/system-prompt.ts";

/** In the order in which providers put it together. */
export interface Prefix {
  model: string;
  tools: readonly AgentTool[];
  sections: readonly PromptSection[];
  /** The messages as they were sent, the same objects from request to request. */
  messages: readonly AgentMessage[];
}

export const modelName = ({ provider, id }: Pick<Model, "provider" | "id">): string => `${provider}/${id}`;

/** The first part that is not as it was in the last request; undefined when that is where this one goes on from. */
export function firstBreak(before: Prefix, after: Prefix): string | undefined {
  if (before.model !== after.model) return "model";
  const tool = firstDifferent(before.tools, after.tools, sameTool);
  // Appended tools change what comes behind them as well.
  if (tool < Math.max(before.tools.length, after.tools.length))
    return `tools.${(after.tools[tool] ?? before.tools[tool])!.name}`;
  const section = firstDifferent(before.sections, after.sections, (a, b) => a.name === b.name && a.text === b.text);
  if (section < Math.max(before.sections.length, after.sections.length)) {
    return `system.${(after.sections[section] ?? before.sections[section])!.name}`;
  }
  const message = firstDifferent(before.messages, after.messages, (a, b) => a === b);
  return message < Math.min(before.messages.length, after.messages.length) ? `messages.${message}` : undefined;
}

/** Where two lists begin to differ; the length of the shorter when one begins with the other. */
function firstDifferent<T>(a: readonly T[], b: readonly T[], isSame: (one: T, other: T) => boolean): number {
  const length = Math.min(a.length, b.length);
  let at = 0;
  while (at < length && isSame(a[at]!, b[at]!)) at++;
  return at;
}

const sameTool = (a: AgentTool, b: AgentTool): boolean => a === b || toolPrefix(a) === toolPrefix(b);

/**
 * What every request of a session begins with. Providers keep it, and charge a tenth for what they kept: so whatever
 * changes it is named. Pure.
 */
import { crc32 } from "node:zlib";
import type { AgentMessage, AgentTool } from "@tau/agent";
import type { Model } from "@tau/ai";
import { toolPrefix } from "../pipeline/stable-order.ts";
import type { SystemPrompt } from "../prompt/system-prompt.ts";
import type { PrefixEntry, PrefixPart } from "../session/entry.ts";

/** Model, tools and prompt, in the order in which providers put them together. Small and plain: it is kept in the log. */
export type PrefixDigest = Pick<PrefixEntry, "model" | "tools" | "sections">;

export const modelName = ({ provider, id }: Pick<Model, "provider" | "id">): string => `${provider}/${id}`;

export const toDigest = (
  model: Pick<Model, "provider" | "id">,
  tools: readonly AgentTool[],
  { sections }: SystemPrompt,
): PrefixDigest => ({
  model: modelName(model),
  tools: tools.map((tool) => ({ name: tool.name, hash: crc32(toolPrefix(tool)) })),
  sections: sections.map(({ name, text }) => ({ name, hash: crc32(text) })),
});

/** The first part that is not as it was; undefined when all of it is. */
export function firstBreak(before: PrefixDigest, after: PrefixDigest): string | undefined {
  if (before.model !== after.model) return "model";
  const tool = firstDifferent(before.tools, after.tools);
  if (tool !== undefined) return `tools.${tool}`;
  const section = firstDifferent(before.sections, after.sections);
  return section === undefined ? undefined : `system.${section}`;
}

/** What is appended to a list changes what comes behind the list as well. */
function firstDifferent(before: readonly PrefixPart[], after: readonly PrefixPart[]): string | undefined {
  const length = Math.max(before.length, after.length);
  for (let at = 0; at < length; at++) {
    const [one, other] = [before[at], after[at]];
    if (one?.name !== other?.name || one?.hash !== other?.hash) return (other ?? one)!.name;
  }
  return undefined;
}

/**
 * The first message that is another than in the last request; undefined when this one goes on from there. The same
 * messages are the same objects from request to request.
 */
export function firstChangedMessage(
  before: readonly AgentMessage[],
  after: readonly AgentMessage[],
): number | undefined {
  const length = Math.min(before.length, after.length);
  for (let at = 0; at < length; at++) if (before[at] !== after[at]) return at;
  return undefined;
}

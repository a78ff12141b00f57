/**
 * The beginning that the requests of a session share. Providers cache it and charge a tenth for the cached part, so every
 * change of it is reported. Pure.
 */
import { crc32 } from "node:zlib";
import type { AgentMessage, AgentTool } from "@tau/agent";
import type { Model } from "@tau/ai";
import { toolPrefix } from "@tau/extensions/internal";
import type { SystemPrompt } from "../prompt/system-prompt.ts";
import type { PrefixEntry, PrefixPart } from "../session/entry.ts";

/** The model, the tools and the prompt, in the order of the providers. It is small, because the log keeps it. */
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

/** The first part that has changed; undefined if none has. */
export function firstBreak(before: PrefixDigest, after: PrefixDigest): string | undefined {
  if (before.model !== after.model) return "model";
  const tool = findDifference(before.tools, after.tools);
  if (tool !== undefined) return `tools.${tool}`;
  const section = findDifference(before.sections, after.sections);
  return section === undefined ? undefined : `system.${section}`;
}

/** An added part is a break too, because it moves everything after it. */
function findDifference(before: readonly PrefixPart[], after: readonly PrefixPart[]): string | undefined {
  const length = Math.max(before.length, after.length);
  for (let index = 0; index < length; index++) {
    const [oldPart, newPart] = [before[index], after[index]];
    if (oldPart?.name !== newPart?.name || oldPart?.hash !== newPart?.hash) return (newPart ?? oldPart)!.name;
  }
  return undefined;
}

/** The first message that differs from the last request. Unchanged messages are the same objects. */
export function firstChangedMessage(
  before: readonly AgentMessage[],
  after: readonly AgentMessage[],
): number | undefined {
  const length = Math.min(before.length, after.length);
  for (let index = 0; index < length; index++) if (before[index] !== after[index]) return index;
  return undefined;
}

/** Tools as they are declared in a transcript, and how they change in it. */
import type { Tool } from "@tau/ai";
import { getCurrentTools, type SystemMessage, type TranscriptMessages } from "./transcript.ts";

/** Keeps only the fields of a tool that the model gets. */
export function toToolDeclaration(tool: Tool): Tool {
  const { name, description, parameters, constrainedSampling } = tool as Tool & { constrainedSampling?: unknown };
  return JSON.parse(JSON.stringify({ name, description, parameters, constrainedSampling })) as Tool;
}

export const declarationsEqual = (left: Tool, right: Tool): boolean =>
  JSON.stringify(toToolDeclaration(left)) === JSON.stringify(toToolDeclaration(right));

interface ToolStateChanges {
  toolsAdded: Tool[];
  toolsRemoved: { name: string }[];
}

/** A tool that changed is removed and added. */
export function getToolStateChanges(previous: readonly Tool[], current: readonly Tool[]): ToolStateChanges {
  const isIn = (tool: Tool, list: readonly Tool[]) => list.some((other) => declarationsEqual(tool, other));
  return {
    toolsAdded: current.filter((tool) => !isIn(tool, previous)),
    toolsRemoved: previous.filter((tool) => !isIn(tool, current)).map(({ name }) => ({ name })),
  };
}

const systemMessages = (messages: TranscriptMessages): SystemMessage[] =>
  messages.filter((message) => message.role === "system") as SystemMessage[];

/** Every declaration, without repetitions. */
export function getDeclaredTools(messages: TranscriptMessages): Tool[] {
  const declared: Tool[] = [];
  for (const tool of systemMessages(messages).flatMap((message) => message.toolsAdded ?? [])) {
    if (!declared.some((other) => declarationsEqual(tool, other))) declared.push(tool);
  }
  return declared;
}

/** Whether a name was declared with two definitions. */
export function hasToolRedefinitions(messages: TranscriptMessages): boolean {
  const names = getDeclaredTools(messages).map(({ name }) => name);
  return new Set(names).size < names.length;
}

/** Whether a tool was removed or declared again. */
export function hasNonAdditiveToolChanges(messages: TranscriptMessages): boolean {
  const names = new Set<string>();
  for (const { toolsAdded = [], toolsRemoved = [] } of systemMessages(messages)) {
    if (toolsRemoved.length > 0) return true;
    for (const { name } of toolsAdded) {
      if (names.has(name)) return true;
      names.add(name);
    }
  }
  return false;
}

interface TranscriptTools {
  /** The tools beside the messages. */
  requestTools: Tool[];
  /** How many of the first system messages `requestTools` accounts for. */
  foldedSystemMessages: number;
}

/** Divides the declarations between the request and the messages, by what a transport can express in messages. */
export function resolveTranscriptTools(
  messages: TranscriptMessages,
  support: "none" | "additions" | "changes",
): TranscriptTools {
  const all = systemMessages(messages);
  if (support === "changes") return { requestTools: [], foldedSystemMessages: 0 };
  if (support === "none") return { requestTools: getCurrentTools(messages), foldedSystemMessages: all.length };
  let folded = Math.min(all.length, 1);
  for (let count = 2; count <= all.length; count++) {
    const before = getCurrentTools(all.slice(0, count - 1)).map(({ name }) => name);
    const { toolsAdded = [], toolsRemoved = [] } = all[count - 1]!;
    if (toolsRemoved.length > 0 || toolsAdded.some(({ name }) => before.includes(name))) folded = count;
  }
  return { requestTools: getCurrentTools(all.slice(0, folded)), foldedSystemMessages: folded };
}

import type { Tool } from "../context.ts";
import type { ToolChoice } from "../options.ts";
import type { EncodeNote } from "./protocol.ts";
import { createIgnoredNote } from "./tools.ts";

/** A normalised tool choice. */
export type ResolvedToolChoice = { kind: "auto" | "any" | "none" } | { kind: "tool"; name: string };

/**
 * Normalises a tool choice; undefined stays undefined. If it names a tool that is not sent, it is left out with a note.
 */
export function resolveToolChoice(
  choice: ToolChoice | undefined,
  tools: readonly Tool[],
  notes: EncodeNote[],
): ResolvedToolChoice | undefined {
  const resolved = choice === undefined ? undefined : normalizeChoice(choice);
  if (resolved?.kind !== "tool" || tools.some(({ name }) => name === resolved.name)) return resolved;
  notes.push(createIgnoredNote("toolChoice", `the request has no tool ${resolved.name}`));
  return undefined;
}

function normalizeChoice(choice: ToolChoice): ResolvedToolChoice {
  if (typeof choice === "string") return { kind: choice === "required" ? "any" : choice };
  if ("function" in choice) return { kind: "tool", name: choice.function.name };
  if ("name" in choice) return { kind: "tool", name: choice.name };
  return { kind: choice.type === "required" ? "any" : choice.type };
}

/** Whether the model must call a tool. */
export const isForced = (choice: ResolvedToolChoice | undefined): boolean =>
  choice?.kind === "any" || choice?.kind === "tool";

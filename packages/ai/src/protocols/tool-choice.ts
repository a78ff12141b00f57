import type { Tool } from "../context.ts";
import type { ToolChoice } from "../options.ts";
import type { EncodeNote } from "./protocol.ts";
import { ignoredOption } from "./tools.ts";

/** A tool choice in one spelling. */
export type ResolvedToolChoice = { kind: "auto" | "any" | "none" } | { kind: "tool"; name: string };

/**
 * Understands all spellings of a tool choice; undefined stays undefined. A choice of a tool that is not offered is no
 * choice: it is noted and left out.
 */
export function resolveToolChoice(
  choice: ToolChoice | undefined,
  offered: readonly Tool[],
  notes: EncodeNote[],
): ResolvedToolChoice | undefined {
  const resolved = choice === undefined ? undefined : readChoice(choice);
  if (resolved?.kind !== "tool" || offered.some(({ name }) => name === resolved.name)) return resolved;
  notes.push(ignoredOption("toolChoice", `there is no tool ${resolved.name} to choose`));
  return undefined;
}

function readChoice(choice: ToolChoice): ResolvedToolChoice {
  if (typeof choice === "string") return { kind: choice === "required" ? "any" : choice };
  if ("function" in choice) return { kind: "tool", name: choice.function.name };
  if ("name" in choice) return { kind: "tool", name: choice.name };
  return { kind: choice.type === "required" ? "any" : choice.type };
}

/** Whether the model is left no choice but to call a tool. */
export const isForced = (choice: ResolvedToolChoice | undefined): boolean =>
  choice?.kind === "any" || choice?.kind === "tool";

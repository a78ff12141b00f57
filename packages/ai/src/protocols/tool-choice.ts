import type { ToolChoice } from "../options.ts";

/** A tool choice in one spelling. */
export type ResolvedToolChoice = { kind: "auto" | "any" | "none" } | { kind: "tool"; name: string };

/** Understands all spellings of a tool choice; undefined stays undefined. */
export function resolveToolChoice(choice: ToolChoice | undefined): ResolvedToolChoice | undefined {
  if (choice === undefined) return undefined;
  if (choice === "required") return { kind: "any" };
  if (typeof choice === "string") return { kind: choice };
  if ("function" in choice) return { kind: "tool", name: choice.function.name };
  return { kind: "tool", name: choice.name };
}

/** Whether the model is left no choice but to call a tool. */
export const isForced = (choice: ResolvedToolChoice | undefined): boolean =>
  choice?.kind === "any" || choice?.kind === "tool";

/** The state of a call, and how much of its result is shown at first. No tool is known by its name. Pure. */
import type { ToolData } from "@tau/protocol";
import type { CallState } from "./items.ts";

export type Shows = NonNullable<ToolData["shows"]>;

type CallStatus = "waiting" | "asked" | "running" | "done" | "failed" | "denied";

export function getCallStatus({ result, running, denied, isAsked }: CallState): CallStatus {
  if (denied !== undefined) return "denied";
  if (result) return result.isError ? "failed" : "done";
  if (isAsked) return "asked";
  return running ? "running" : "waiting";
}

/** How many lines are shown before somebody asks for all of them, and which. */
export interface Fold {
  lines: number;
  keeps: "start" | "end";
}

export const folds: Readonly<Record<Shows, Fold>> = {
  text: { lines: 8, keeps: "start" },
  command: { lines: 8, keeps: "end" },
  diff: { lines: 40, keeps: "start" },
  file: { lines: 10, keeps: "start" },
  document: { lines: 6, keeps: "start" },
  excerpt: { lines: 0, keeps: "start" },
  matches: { lines: 8, keeps: "start" },
  list: { lines: 8, keeps: "start" },
  image: { lines: 2, keeps: "start" },
  places: { lines: 8, keeps: "start" },
  step: { lines: 8, keeps: "start" },
  cell: { lines: 8, keeps: "end" },
};

/** A call in one line, and what its result shows. No tool is known by its name. Pure. */
import type { ToolData } from "@tau/protocol";
import type { CallState } from "./items.ts";
import { toFields } from "./messages.ts";

export type Shows = NonNullable<ToolData["shows"]>;

const telling = ["command", "path", "file_path", "pattern", "url", "query", "name"];

/** The most telling argument; of several lines, the first. */
export function getCallSubject(input: Readonly<Record<string, unknown>>): string {
  const key = telling.find((name) => typeof input[name] === "string") ?? Object.keys(input)[0];
  const value = key === undefined ? undefined : input[key];
  if (typeof value !== "string") return "";
  const [first = "", ...rest] = value.trim().split("\n");
  return rest.length === 0 ? first : `${first} …`;
}

export type CallStatus = "waiting" | "asked" | "running" | "done" | "failed" | "denied";

export function getCallStatus({ result, running, denied, isAsked }: CallState): CallStatus {
  if (denied !== undefined) return "denied";
  if (result) return result.isError ? "failed" : "done";
  if (isAsked) return "asked";
  return running ? "running" : "waiting";
}

export function getDiffs(details: unknown): string[] {
  const { diff, files } = toFields(details);
  const all = [diff, ...(Array.isArray(files) ? files.map((file) => toFields(file)["diff"]) : [])];
  return all.filter((text): text is string => typeof text === "string" && text !== "");
}

/** Said after the title of a finished call. */
export function describeOutcome({ result }: CallState): string {
  const { exitCode, signal, isNew } = toFields(result?.details);
  if (isNew === true && !result?.isError) return "new";
  if (typeof exitCode === "number" && exitCode !== 0) return `exit ${exitCode}`;
  return typeof signal === "string" ? signal : "";
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
  excerpt: { lines: 0, keeps: "start" },
  matches: { lines: 8, keeps: "start" },
  list: { lines: 8, keeps: "start" },
  image: { lines: 2, keeps: "start" },
};

/** Lists what was said in a session, without what files, tools and pages brought into it. Pure. */
import { asRecord } from "@tau/ai/internal";
import { getWrittenText } from "../kit/written-text.ts";

export interface Spoken {
  readonly by: "user" | "model";
  readonly text: string;
}

/** An entry of a log, which may have been read from a file. */
export type LogEntry = Readonly<Record<string, unknown>>;

/** The type of the entry that says that text of others came into a session. */
const taintedType = "tau.tainted";

export interface Taint {
  readonly source: string;
  readonly detail: string;
}

/** Undefined if no text of others came into the session, on whichever branch. */
export function findTaint(entries: readonly LogEntry[]): Taint | undefined {
  const taints = entries
    .filter(({ type, customType }) => type === "custom" && customType === taintedType)
    .map(({ data }) => asRecord(data));
  // That others wrote the prompts matters most.
  const taint = taints.find(({ source }) => source === "message") ?? taints[0];
  if (!taint) return undefined;
  const { source, detail } = taint;
  return { source: String(source), detail: typeof detail === "string" ? detail : "an unknown source" };
}

const maxMessageLength = 4_000;

/** Lists what the user and the model said, after an entry if one is named. Results of tools and messages of extensions are left out. */
export function listSpoken(entries: readonly LogEntry[], after?: string | null): Spoken[] {
  const start = after === undefined || after === null ? 0 : entries.findIndex(({ id }) => id === after) + 1;
  return entries.slice(start).flatMap((entry): Spoken[] => {
    if (entry["type"] !== "message") return [];
    const { role, content } = asRecord(entry["message"]);
    if (role !== "user" && role !== "assistant") return [];
    const text = getWrittenText(content).trim();
    return text === "" ? [] : [{ by: role === "user" ? "user" : "model", text: text.slice(0, maxMessageLength) }];
  });
}

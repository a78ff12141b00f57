/** Explains to the model that something it wanted was not allowed, and by whom. Pure. */
import type { Answer } from "./policy.ts";

/** Values of `by` with which a question ended without an answer. */
const unanswered: readonly string[] = ["timeout", "nobody", "abort"];

/** `action` is what was asked about, such as "the call". */
export function formatRefusal({ by = "person", message }: Pick<Answer, "by" | "message">, action: string): string {
  const why = message
    ? `: ${message}`
    : ". Do not try it in another way: continue without it, or ask what to do instead.";
  if (unanswered.includes(by)) return `Nobody allowed ${action}${why}`;
  return `${by === "person" ? "The user" : by} did not allow ${action}${why}`;
}

import type { Ask, Decide } from "@tau/harness/policy";

/** No commands, no writing; reading is asked about. The paths are the real ones. */
export const decide: Decide = ({ capability, target }) => {
  if (capability === "exec" || capability === "write")
    return { kind: "deny", rule: "read-only", reason: "Nothing may be changed here." };
  if (target.kind === "path") return { kind: "ask", rule: "look", reason: `It wants to read ${target.path}.` };
  return { kind: "allow", rule: "default" };
};

/** `prompt` shows a question to a person. Give up when the signal aborts: the run may end before an answer comes. */
export const askWith =
  (prompt: (question: string, signal: AbortSignal) => Promise<boolean>): Ask =>
  async ({ summary }, signal) => {
    const isAllowed = await prompt(summary, signal);
    return isAllowed ? { decision: "allow", choice: "session" } : { decision: "deny", message: "Not this one." };
  };

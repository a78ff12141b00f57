import type { Ask, Decide } from "@tau/policy";

/** Commands and writing are denied, and the user is asked about reading. Paths are real paths, not links. */
export const decide: Decide = ({ capability, target }) => {
  if (capability === "exec" || capability === "write")
    return { kind: "deny", rule: "read-only", reason: "Nothing may be changed here." };
  if (target.kind === "path") return { kind: "ask", rule: "read", reason: `The call would read ${target.path}.` };
  return { kind: "allow", rule: "default" };
};

/** `confirm` shows a question to the user. It should stop when the signal aborts, because the run may end first. */
export const askWith =
  (confirm: (question: string, signal: AbortSignal) => Promise<boolean>): Ask =>
  async ({ summary, reason, choices }, signal) => {
    const isAllowed = await confirm(`${summary}\n${reason}`, signal);
    if (!isAllowed) return { decision: "deny", message: "Not this one." };
    // What is asked about each time can only be allowed once.
    return { decision: "allow", choice: choices.some(({ choice }) => choice === "session") ? "session" : "once" };
  };

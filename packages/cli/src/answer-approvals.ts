/** Asks the user on the terminal about calls that the policy does not allow by itself. */
import { SerialQueue } from "@tau/ai/internal";
import { toVisibleLine } from "@tau/harness/policy";
import type { Approval, ApprovalAnswer, ApprovalChoice } from "@tau/protocol";
import { ask } from "./ask.ts";
import type { Io } from "./command.ts";
import type { ShownSession } from "./shown-session.ts";
import { clearLine } from "./terminal-text.ts";

/** One question at a time. Returns a function that ends it. */
export function answerApprovals(session: ShownSession, io: Io): () => void {
  const queue = new SerialQueue();
  /** Questions that are open, also those that were answered a moment ago. */
  const open = new Map<string, AbortController>();
  const begin = (approval: Approval) => {
    const withdrawn = new AbortController();
    open.set(approval.id, withdrawn);
    void queue
      .add(() => answer(session, approval, io, withdrawn.signal))
      .catch(() => session.approve(approval.id, { decision: "deny" }));
  };
  return session.onChange(({ live: { approvals } }) => {
    for (const [id, withdrawn] of open) {
      if (approvals.some((approval) => approval.id === id)) continue;
      withdrawn.abort();
      open.delete(id);
    }
    for (const approval of approvals) if (!open.has(approval.id)) begin(approval);
  });
}

async function answer(session: ShownSession, approval: Approval, io: Io, signal: AbortSignal): Promise<void> {
  if (signal.aborted || io.signal.aborted) return;
  const typed = await ask(io, `${clearLine(io.env)}${formatQuestion(approval)}`, { signal });
  // Somebody else answered, or the time is over.
  if (signal.aborted) return;
  if (typed === undefined) return await session.abort();
  session.approve(approval.id, parseAnswer(approval, typed));
}

const letters: Record<ApprovalChoice, { letter: string; term: string }> = {
  once: { letter: "y", term: "this time" },
  session: { letter: "s", term: "in this session" },
  project: { letter: "p", term: "in this project" },
  always: { letter: "a", term: "always" },
};

/** The command or path is shown whole. Pure. */
export function formatQuestion({ summary, reason, commands = [], choices }: Approval): string {
  const [shell, ...inside] = commands;
  const runs = inside.length > 1 ? ["It runs:", ...inside.map((argv) => `  ${argv.join(" ")}`)] : [];
  const texts = [...(shell?.at(-1)?.split("\n") ?? []), ...runs];
  const keys = listKeys(choices);
  const width = Math.max(...keys.map((key) => key.length));
  const offers = choices.map(({ choice, rule }, index) => {
    const { term } = letters[choice];
    return `${keys[index]!.padEnd(width)}  ${term}${rule === undefined ? "" : `: ${rule}`}`;
  });
  const lines = [summary, reason, ...texts, "", ...offers, "n  no"].map((line) => toVisibleLine(line, Infinity));
  return `The model asks for your approval.\n${lines.map((line) => `  ${line}\n`).join("")}Allow it? [${keys.join("/")}/N] `;
}

/** Everything but a choice that was offered is a no. Pure. */
export function parseAnswer({ choices }: Pick<Approval, "choices">, typed: string): ApprovalAnswer {
  const word = typed.trim().toLowerCase();
  const keys = listKeys(choices);
  const wanted = word === "yes" ? "once" : word;
  const match = choices.find(({ choice }, index) => wanted === choice || wanted === keys[index]);
  if (!match) return { decision: "deny" };
  const { choice, rule } = match;
  return { decision: "allow", choice, ...(rule !== undefined && { rule }) };
}

/** What to type for each choice: a letter, and a star for each time that the choice was offered with another rule before. */
const listKeys = (choices: Approval["choices"]): string[] =>
  choices.map(({ choice }, index) => {
    const earlier = choices.slice(0, index).filter((other) => other.choice === choice);
    return letters[choice].letter + "*".repeat(earlier.length);
  });

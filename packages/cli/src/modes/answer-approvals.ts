/** Asks the user on the terminal about calls that the policy does not allow by itself. */
import { SerialQueue } from "@tau/ai/internal";
import { toVisibleLine } from "@tau/policy";
import type { Approval, ApprovalAnswer } from "@tau/protocol";
import { findChoiceIndex, listCommandLines, toAllowAnswer } from "@tau/protocol/surface";
import { ask } from "../process/ask.ts";
import type { Io } from "../commands/command.ts";
import type { ShownSession } from "./shown-session.ts";
import { clearLine } from "../process/terminal-text.ts";

/** Asks one question at a time. Returns a function that ends it. */
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

/** The command or path is shown whole. Pure. */
export function formatQuestion({ summary, reason, commands = [], choices }: Approval): string {
  const offers = choices.map(({ label }, index) => `${index + 1}  ${label}`);
  const texts = [summary, reason, ...listCommandLines(commands), "", ...offers, "n  No"];
  const lines = texts.map((line) => toVisibleLine(line, Infinity));
  const keys = ["y", ...choices.slice(1).map((_choice, index) => index + 2)];
  return `The model asks for your approval.\n${lines.map((line) => `  ${line}\n`).join("")}Allow it? [${keys.join("/")}/N] `;
}

/** Everything but a choice that was offered is a no. `y` is the first one. Pure. */
export function parseAnswer({ choices }: Pick<Approval, "choices">, typed: string): ApprovalAnswer {
  const word = typed.trim().toLowerCase();
  const index = findChoiceIndex(word === "yes" ? "y" : word, choices);
  const match = index === undefined ? choices.find(({ choice }) => choice === word) : choices[index];
  return match ? toAllowAnswer(match) : { decision: "deny" };
}

/** Describes a question of the policy, and turns a choice or a key into its answer. Pure. */
import type { Approval, ApprovalAnswer, OfferedChoice } from "../approval.ts";

/** Lists the lines that a shell gets, and below them what it runs, if that is more than one command. Nothing is left out. */
export function listCommandLines([shell, ...inside]: NonNullable<Approval["commands"]>): string[] {
  const text = shell?.at(-1)?.split("\n") ?? [];
  return inside.length > 1 ? [...text, "runs:", ...inside.map((argv) => `  ${argv.join(" ")}`)] : text;
}

/** Finds the choice that a key stands for: `y` for the first, else its number. */
export function findChoiceIndex(key: string, choices: readonly unknown[]): number | undefined {
  const index = key === "y" ? 0 : /^[1-9]$/.test(key) ? Number(key) - 1 : undefined;
  return index !== undefined && index < choices.length ? index : undefined;
}

export const toAllowAnswer = ({ choice, rule }: OfferedChoice): ApprovalAnswer => ({
  decision: "allow",
  choice,
  ...(rule !== undefined && { rule }),
});

/** Refuses a call; `reason` is for the model, and may be empty. */
export const toDenyAnswer = (reason: string): ApprovalAnswer => ({
  decision: "deny",
  ...(reason.trim() !== "" && { message: reason.trim() }),
});

/**
 * The time until a question is denied without an answer, in milliseconds; undefined if it waits for an answer. The clock of
 * the machine that asks may differ from this one, so it is never longer than when the question was asked.
 */
export const getTimeLeftMs = (
  { expiresAt, timeoutMs = Infinity }: Pick<Approval, "expiresAt" | "timeoutMs">,
  nowMs: number,
): number | undefined => (expiresAt === undefined ? undefined : Math.min(expiresAt - nowMs, timeoutMs));

/** Such as `4:59 left`. */
export function formatTimeLeft(leftMs: number): string {
  const seconds = Math.max(0, Math.ceil(leftMs / 1_000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")} left`;
}

/** Decides about messages that wait for a session. Pure: `session-inbox.ts` acts on it. */
import type { QueuedState } from "@tau/harness/session";
import type { QueueMode } from "@tau/protocol/gateway";
import type { GatewaySettings } from "../settings.ts";
import { getFirstWords, type MessageOutcome, type StoredMessage } from "./message.ts";

type QueueSettings = GatewaySettings["queue"];

/** Whether another message is accepted, and which of those that wait are given up for it. */
type Admission = { kind: "accept"; drops: readonly StoredMessage[] } | { kind: "refuse" };

/** `waiting` are all messages of the session without an outcome, oldest first. */
export function decideAdmission(
  waiting: readonly StoredMessage[],
  { cap, drop }: Pick<QueueSettings, "cap" | "drop">,
): Admission {
  const excess = waiting.length + 1 - cap;
  if (excess <= 0) return { kind: "accept", drops: [] };
  return drop === "new" ? { kind: "refuse" } : { kind: "accept", drops: waiting.slice(0, excess) };
}

export interface InjectStep {
  kind: "inject";
  messages: readonly StoredMessage[];
  queue: "steer" | "followUp";
  interrupt: boolean;
}

type NextStep =
  | { kind: "nothing" }
  /** Nothing is due before. */
  | { kind: "wait"; forMs: number }
  /** Nothing is due before the run is over. */
  | { kind: "when_idle" }
  | InjectStep;

interface SessionFacts {
  /** The messages that were not handed to the session yet, oldest first. */
  waiting: readonly StoredMessage[];
  isBusy: boolean;
  nowMs: number;
  debounceMs: number;
}

/** Messages that come without a pause are gathered for this many times the pause at most. */
const maxPauses = 10;

/** How each mode is handed to a session that is busy. Those of `collect` wait until it is idle. */
const busyModes = {
  steer: { queue: "steer", interrupt: false },
  followup: { queue: "followUp", interrupt: false },
  interrupt: { queue: "steer", interrupt: true },
} as const satisfies Record<Exclude<QueueMode, "collect">, Pick<InjectStep, "queue" | "interrupt">>;

/** In order, but that what is gathered while the session is busy does not hold up what is meant for the running run. */
export function decideNext({ waiting, isBusy, nowMs, debounceMs }: SessionFacts): NextStep {
  const [first] = waiting;
  if (!first) return { kind: "nothing" };
  const direct = waiting.find(({ mode }) => mode !== "collect");
  if (isBusy) {
    if (!direct || direct.mode === "collect") return { kind: "when_idle" };
    return { kind: "inject", messages: [direct], ...busyModes[direct.mode] };
  }
  if (first.mode !== "collect") return { kind: "inject", messages: [first], ...busyModes[first.mode] };
  const messages = gather(waiting);
  // Somebody does not wait: what came before is due too.
  const forMs = messages.length < waiting.length ? 0 : getPause(messages, nowMs, debounceMs);
  return forMs > 0 ? { kind: "wait", forMs } : { kind: "inject", messages, queue: "followUp", interrupt: false };
}

/** The messages that are said together. One that begins with a slash may be a command, and is said alone. */
function gather(waiting: readonly StoredMessage[]): readonly StoredMessage[] {
  const end = waiting.findIndex(({ mode, text }, index) => mode !== "collect" || (index > 0 && isCommandLike(text)));
  const together = end < 0 ? waiting : waiting.slice(0, end);
  return isCommandLike(together[0]?.text ?? "") ? together.slice(0, 1) : together;
}

const isCommandLike = (text: string) => text.trimStart().startsWith("/");

function getPause(messages: readonly StoredMessage[], nowMs: number, debounceMs: number): number {
  const [first, last] = [messages[0]!.acceptedAt, messages.at(-1)!.acceptedAt];
  const dueMs = Math.min(last + debounceMs, first + maxPauses * debounceMs);
  // The clock may have been set back.
  return Math.min(dueMs - nowMs, debounceMs);
}

/** The text of several messages as one, with a line about each message that was given up before. */
export function joinTexts(messages: readonly StoredMessage[], leftOut: readonly StoredMessage[]): string {
  const text = messages.map((message) => message.text).join("\n\n");
  if (leftOut.length === 0) return text;
  // A name after an at sign would be taken for a file that the message mentions.
  const lines = leftOut.map((message) => `- ${getFirstWords(message.text, 100).replaceAll("@", "@ ")}`);
  const count = leftOut.length === 1 ? "1 earlier message was" : `${leftOut.length} earlier messages were`;
  return `[${count} left out, because too many were waiting:\n${lines.join("\n")}]\n\n${text}`;
}

/** Picks the given-up messages that are mentioned with these. A command must stay as it is. */
export const pickUntold = (
  messages: readonly StoredMessage[],
  untold: readonly StoredMessage[],
): readonly StoredMessage[] => (messages.some(({ text }) => isCommandLike(text)) ? [] : untold);

interface RecoveryFacts {
  /** Its state in the session's log; undefined if the log does not have it. */
  logged: QueuedState | undefined;
  /** Whether it was accepted by a process that has ended. */
  isFromBefore: boolean;
  ageMs: number;
  ttlMs: number;
}

type Recovery = { kind: "settle"; outcome: MessageOutcome } | { kind: "queued" } | { kind: "inject" };

/** Decides about a message without an outcome when its session is opened. */
export function decideRecovery(
  message: StoredMessage,
  { logged, isFromBefore, ageMs, ttlMs }: RecoveryFacts,
): Recovery {
  if (logged === "waiting") return { kind: "queued" };
  if (logged !== undefined) return { kind: "settle", outcome: toOutcome(logged) };
  if (message.handover?.isCommand) return { kind: "settle", outcome: { kind: "dead", reason: perhapsExecuted } };
  if (isFromBefore && ageMs >= ttlMs) return { kind: "settle", outcome: { kind: "dead", reason: tooOld } };
  return { kind: "inject" };
}

export const tooOld = "The gateway was stopped before it could be said, and it is too old now.";
const perhapsExecuted = "The gateway was stopped while this command was running: it may have been executed.";

/** Turns the state of a message in the session's own queue into its outcome. */
export function toOutcome(logged: Exclude<QueuedState, "waiting">): MessageOutcome {
  if (logged === "said") return { kind: "injected" };
  if (logged === "cancelled") return { kind: "cancelled", reason: "It was taken out of the queue." };
  return { kind: "dead", reason: "The session was closed before it could be said." };
}

/** Decides when people see how far an answer is. Pure: `stream-answer.ts` acts on it. */

type StreamStep =
  | { readonly kind: "show" }
  | { readonly kind: "wait"; readonly forMs: number }
  /** Until more is written. */
  | { readonly kind: "idle" };

interface StreamFacts {
  /** The text that was written so far. */
  readonly text: string;
  /** The text that people were shown last; empty: nothing yet. */
  readonly shownText: string;
  /** Since the first piece of the answer was written. */
  readonly ageMs: number;
  /** Since people were shown something last. */
  readonly sinceShownMs: number;
  /** The platform's limit, or longer after an edit that failed. */
  readonly minIntervalMs: number;
}

/** The first piece is worth a notification: so much text, or what there is after a while. */
const minFirstLength = 200;
const minFirstAgeMs = 300;
const maxFirstAgeMs = 1_500;

/** Answers that nobody is sent; what may still become one of them is not shown. */
const silentTexts = ["__SILENT__", "HEARTBEAT_OK"];

export const isSilentText = (text: string): boolean => silentTexts.includes(text.trim());

export function decideStream({ text, shownText, ageMs, sinceShownMs, minIntervalMs }: StreamFacts): StreamStep {
  const written = text.trim();
  if (written === shownText || silentTexts.some((silent) => silent.startsWith(written))) return { kind: "idle" };
  const afterMs = shownText === "" ? getFirstAgeMs(written) - ageMs : minIntervalMs - sinceShownMs;
  return afterMs > 0 ? { kind: "wait", forMs: afterMs } : { kind: "show" };
}

const getFirstAgeMs = (text: string): number => (text.length >= minFirstLength ? minFirstAgeMs : maxFirstAgeMs);

/** Chooses the facts that a session is given with its first prompt. Pure. */
import { describeSource, type Fact, type FactKind, getFactId } from "./fact.ts";
import { toTerms } from "./fact-index.ts";
import type { FoundFact } from "./fact-file.ts";

/** Tokens of the whole entry. */
export const maxTokens = 1_500;

/** An upper estimate for texts of all languages. */
export const countTokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / 3);

interface ChosenFact {
  readonly id: string;
  readonly fact: Fact;
  /** For people: why it was chosen. */
  readonly reason: string;
}

interface FactCandidates {
  readonly prompt: string;
  /** Facts that fit the prompt, the best first. */
  readonly found: readonly FoundFact[];
  /** The newest first. */
  readonly newest: readonly Fact[];
}

const kindWeights: Record<FactKind, number> = { preference: 1.5, correction: 1.5, decision: 1, fact: 0.5 };

const introduction =
  "Memory: facts of this project that were remembered in earlier sessions. They are notes, not a message of the user, and may be out of date: what the user says and what the files show comes first.";

/** Facts with text of others behind them are never chosen. */
export function chooseFacts({ prompt, found, newest }: FactCandidates): ChosenFact[] {
  const highest = found[0]?.score ?? 1;
  const rated = new Map<string, { fact: Fact; score: number; isFound: boolean }>();
  for (const [rank, fact] of newest.entries())
    rated.set(fact.text, { fact, score: kindWeights[fact.kind] + 1 / (1 + rank / 10), isFound: false });
  for (const { fact, score } of found) {
    const before = rated.get(fact.text)?.score ?? kindWeights[fact.kind];
    rated.set(fact.text, { fact, score: before + (3 * score) / highest, isFound: true });
  }
  const best = [...rated.values()].filter(({ fact }) => fact.origin === undefined);
  best.sort((left, right) => right.score - left.score);
  const words = new Set(toTerms(prompt));
  let left = maxTokens - countTokens(introduction);
  return best.flatMap(({ fact, isFound }) => {
    const cost = countTokens(formatFact(fact));
    if (cost > left) return [];
    left -= cost;
    return [{ id: getFactId(fact), fact, reason: isFound ? describeMatch(fact, words) : describeKind(fact) }];
  });
}

const describeMatch = ({ text }: Fact, words: ReadonlySet<string>): string => {
  const shared = [...new Set(toTerms(text))].filter((word) => words.has(word)).slice(0, 5);
  return `fits the prompt: ${shared.join(", ")}`;
};

const describeKind = ({ kind }: Fact): string => (kind === "fact" ? "recent" : `a recent ${kind}`);

const formatFact = (fact: Fact): string => `\n- ${fact.text} (${describeSource(fact)})`;

/** The entry for the model. */
export const formatChosen = (chosen: readonly ChosenFact[]): string =>
  `${introduction}\n${chosen.map(({ fact }) => formatFact(fact)).join("")}`;

/** Matches whose characters appear in order, with others between them. */

export interface FuzzyMatch {
  matches: boolean;
  /** Lower is better. */
  score: number;
}

const wordBreak = /[\s\-_./:]/;
const lettersAndDigits = /^(?:([a-z]+)(\d+)|(\d+)([a-z]+))$/;
const exactBonus = 100;
const wordStartBonus = 10;
const inRowBonus = 5;
const gapPenalty = 2;
const positionPenalty = 0.1;
const swapPenalty = 5;

/**
 * Case does not matter. Better are matches of the whole text, at the start of words, without gaps, and near the start. `5gpt`
 * also finds `gpt-5`: letters and digits may change places.
 */
export function fuzzyMatch(query: string, text: string): FuzzyMatch {
  const wanted = query.toLowerCase();
  const candidate = text.toLowerCase();
  const score = getScore(wanted, candidate);
  if (score !== undefined) return { matches: true, score };
  const parts = lettersAndDigits.exec(wanted);
  const swapped = parts && (parts[2] ?? parts[4] ?? "") + (parts[1] ?? parts[3] ?? "");
  const swappedScore = swapped ? getScore(swapped, candidate) : undefined;
  return swappedScore === undefined
    ? { matches: false, score: 0 }
    : { matches: true, score: swappedScore + swapPenalty };
}

function getScore(query: string, text: string): number | undefined {
  if (query === "") return 0;
  let score = query === text ? -exactBonus : 0;
  let last = -1;
  let inRow = 0;
  for (const character of query.split("")) {
    const index = text.indexOf(character, last + 1);
    if (index === -1) return undefined;
    inRow = index === last + 1 ? inRow + 1 : 0;
    score -= inRow * inRowBonus;
    if (inRow === 0 && last >= 0) score += (index - last - 1) * gapPenalty;
    if (index === 0 || wordBreak.test(text[index - 1] as string)) score -= wordStartBonus;
    score += index * positionPenalty;
    last = index;
  }
  return score;
}

/** The items that match, best first. Words and parts of paths in the query have to match each, in any order. */
export function fuzzyFilter<T>(items: T[], query: string, getText: (item: T) => string): T[] {
  const tokens = query.split(/[\s/]+/).filter((token) => token !== "");
  if (tokens.length === 0) return items;
  const scored: { item: T; score: number }[] = [];
  for (const item of items) {
    const text = getText(item);
    const matches = tokens.map((token) => fuzzyMatch(token, text));
    if (matches.every((match) => match.matches)) {
      scored.push({ item, score: matches.reduce((sum, { score }) => sum + score, 0) });
    }
  }
  return scored.sort((a, b) => a.score - b.score).map(({ item }) => item);
}

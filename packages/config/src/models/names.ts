/** Reads family, version and snapshot from the name of a model. Pure. */
import type { Model } from "@tau/ai";
import { oncePer } from "@tau/ai/internal";

export interface ModelName {
  /** The words of the name, as `getWords` gives them. */
  readonly words: readonly string[];
  /** The name without a date, `latest`, or a cloud's revision. */
  readonly stem: readonly string[];
}

interface Lineage {
  /** The stem without the version: models of one family differ only by age. */
  readonly family: string;
  readonly version: readonly number[];
  /** Year, month and day as one number; 0 for a name that always means the newest snapshot. */
  readonly date: number;
}

/** In lower case, split at other characters than letters and digits, and between a word and its number: `qwen3.8` is three. */
export function getWords(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
    .flatMap((word) => {
      // Some services write `p` for the point: 5p3.
      const pointed = /^(\p{L}?\d+)p(\d+)$/u.exec(word);
      if (pointed) return [pointed[1]!, pointed[2]!];
      const numbered = /^(\p{L}{2,})(\d.*)$/u.exec(word);
      return numbered ? [numbered[1]!, ...getWords(numbered[2]!)] : [word];
    });
}

export const isNumber = (word: string): boolean => /^\d+$/.test(word);

export const hasDigit = (word: string): boolean => /\d/.test(word);

/** The part after the last slash: gateways put the maker before it. */
export const lastSegment = (id: string): string => id.slice(id.lastIndexOf("/") + 1);

export function getName(text: string): ModelName {
  return { words: getWords(text), stem: getWords(withoutSnapshot(text).stem) };
}

export const getLineage = oncePer((model: Model): Lineage => {
  const { stem, date } = withoutSnapshot(model.id);
  const words = getWords(stem);
  return {
    family: words
      .filter((word) => !isNumber(word))
      .map((word) => (isVersion(word) ? word.slice(0, 1) : word))
      .join(" "),
    version: words.filter((word) => isNumber(word) || isVersion(word)).map((word) => Number(word.replace(/^\D/, ""))),
    date,
  };
});

/** Whether a word is a letter and a number: `k2`, `v4`, `o3`. With a letter after it, it is a size. */
export const isVersion = (word: string): boolean => /^\p{L}\d+$/u.test(word);

/** The newer first: by version, then a name that means the newest snapshot, then by the date of the snapshot. */
export function compareAge(a: Lineage, b: Lineage): number {
  for (let index = 0; index < Math.max(a.version.length, b.version.length); index++) {
    const difference = (b.version[index] ?? -1) - (a.version[index] ?? -1);
    if (difference !== 0) return difference;
  }
  const getDate = ({ date }: Lineage) => (date === 0 ? Number.POSITIVE_INFINITY : date);
  return getDate(a) === getDate(b) ? 0 : getDate(b) - getDate(a);
}

function withoutSnapshot(id: string): { stem: string; date: number } {
  const bare = id.replace(/-v\d+:\d+$|-v1$/i, "");
  const alias = bare.replace(/[-:]latest$/i, "");
  if (alias !== bare) return { stem: alias, date: 0 };
  for (const [pattern, read] of dateForms) {
    const match = pattern.exec(bare);
    const date = match ? read(match.slice(1).map(Number)) : 0;
    if (match && date > 0) return { stem: bare.slice(0, match.index), date };
  }
  return { stem: bare, date: 0 };
}

const toDay = (year: number, month: number, date: number) =>
  month >= 1 && month <= 12 && date <= 31 ? year * 10_000 + month * 100 + date : 0;

/** The ways in which makers write the date of a snapshot, and how each is read; 0 if it is no date. */
const dateForms: readonly (readonly [RegExp, (numbers: number[]) => number])[] = [
  [/[-@](20\d\d)-?(\d\d)-?(\d\d)$/, ([year, month, date]) => toDay(year!, month!, date!)],
  [/-(\d\d)-(20\d\d)$/, ([month, year]) => toDay(year!, month!, 0)],
  [
    /-(\d\d)(\d\d)$/,
    ([first, second]) => (first! >= 20 && first! < 40 ? toDay(2000 + first!, second!, 0) : toDay(0, first!, second!)),
  ],
];

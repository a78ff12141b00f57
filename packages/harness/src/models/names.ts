/** What the name of a model says: of which family it is, which version, and whether it is a snapshot. Pure. */
import type { Model } from "@tau/ai";
import { oncePer } from "@tau/ai/internal";

export interface ModelName {
  /** The words of the name, as `getWords` gives them. */
  readonly words: readonly string[];
  /** The same without a date, `latest`, or a cloud's revision. */
  readonly stem: readonly string[];
}

export interface Lineage {
  /** Everything in the stem but the version: two models of one family differ only by age. */
  readonly family: string;
  readonly version: readonly number[];
  /** Year, month and day as one number; 0 for a name that follows the newest snapshot. */
  readonly date: number;
}

/** Lower case, split at everything that is no letter and no digit, and between a word and its number: `qwen3.8` is three. */
export function getWords(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
    .flatMap((word) => {
      // Where a point is not allowed in a name, a `p` stands for it: 5p3.
      const pointed = /^(\p{L}?\d+)p(\d+)$/u.exec(word);
      if (pointed) return [pointed[1]!, pointed[2]!];
      const numbered = /^(\p{L}{2,})(\d.*)$/u.exec(word);
      return numbered ? [numbered[1]!, ...getWords(numbered[2]!)] : [word];
    });
}

export const isNumber = (word: string): boolean => /^\d+$/.test(word);

export const hasDigit = (word: string): boolean => /\d/.test(word);

/** What comes behind the last slash: gateways put the maker before it. */
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

/** One letter and a number: `k2`, `v4`, `o3`. With a letter behind it is a size. */
export const isVersion = (word: string): boolean => /^\p{L}\d+$/u.test(word);

/** The newer first: by version, then the name that follows the newest snapshot, then the newest snapshot. */
export function compareAge(a: Lineage, b: Lineage): number {
  for (let at = 0; at < Math.max(a.version.length, b.version.length); at++) {
    const difference = (b.version[at] ?? -1) - (a.version[at] ?? -1);
    if (difference !== 0) return difference;
  }
  const formatDate = ({ date }: Lineage) => (date === 0 ? Number.POSITIVE_INFINITY : date);
  return formatDate(a) === formatDate(b) ? 0 : formatDate(b) - formatDate(a);
}

function withoutSnapshot(id: string): { stem: string; date: number } {
  const bare = id.replace(/-v\d+:\d+$|-v1$/i, "");
  const alias = bare.replace(/[-:]latest$/i, "");
  if (alias !== bare) return { stem: alias, date: 0 };
  for (const [pattern, read] of dateForms) {
    const found = pattern.exec(bare);
    const date = found ? read(found.slice(1).map(Number)) : 0;
    if (found && date > 0) return { stem: bare.slice(0, found.index), date };
  }
  return { stem: bare, date: 0 };
}

const day = (year: number, month: number, date: number) =>
  month >= 1 && month <= 12 && date <= 31 ? year * 10_000 + month * 100 + date : 0;

/** How makers write the day of a snapshot, with how it is read; 0 for what is no date after all. */
const dateForms: readonly (readonly [RegExp, (numbers: number[]) => number])[] = [
  [/[-@](20\d\d)-?(\d\d)-?(\d\d)$/, ([year, month, date]) => day(year!, month!, date!)],
  [/-(\d\d)-(20\d\d)$/, ([month, year]) => day(year!, month!, 0)],
  [
    /-(\d\d)(\d\d)$/,
    ([first, second]) => (first! >= 20 && first! < 40 ? day(2000 + first!, second!, 0) : day(0, first!, second!)),
  ],
];

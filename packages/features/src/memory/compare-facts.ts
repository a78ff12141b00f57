/** Whether two facts say the same, or contradict each other. Pure. */
import { tokenize } from "../kit/tool-search/search-index.ts";

export type Comparison = "same" | "contradicts" | "different";

/** Words that change nothing about what a sentence says. */
const fillers = new Set(
  "a an the this that these those please we you i it is are was were be of to in on for with and our your my always just".split(
    " ",
  ),
);
const negations = new Set(["not", "never", "no", "dont", "doesnt", "without", "avoid", "cannot", "isnt", "arent"]);
const isNumber = (word: string): boolean => /^v?\d+$/.test(word);
/** Before a number at the end of a sentence, these say that the number is what the sentence is about. */
const assertions = new Set(["is", "are", "use", "uses", "need", "needs", "require", "requires", "equals"]);

interface Sentence {
  /** In their order, without fillers and negations. */
  readonly words: readonly string[];
  /** The numbers at the end of a sentence that says what they are: `Use Node 20`. */
  readonly value: readonly string[];
  readonly isNegated: boolean;
}

/** Two facts are the same if they have the same words; they contradict if only a negation, or the value that they state, differs. */
export function createComparison(text: string): (other: string) => Comparison {
  const own = read(text);
  return (other) => compare(own, read(other));
}

function compare(left: Sentence, right: Sentence): Comparison {
  if (left.words.join(" ") !== right.words.join(" ")) return "different";
  const hasSameValue = left.value.join(" ") === right.value.join(" ");
  if (left.words.length === 0) return hasSameValue ? "same" : "different";
  if ((left.value.length === 0) !== (right.value.length === 0)) return "different";
  return left.isNegated === right.isNegated && hasSameValue ? "same" : "contradicts";
}

function read(text: string): Sentence {
  // An apostrophe would make two words of one.
  const all = tokenize(text.replaceAll(/['’]/g, ""));
  const states = all.some((word) => assertions.has(word));
  const end = states ? all.findLastIndex((word) => !isNumber(word)) + 1 : all.length;
  const words = all.slice(0, end).filter((word) => !fillers.has(word));
  return {
    words: words.filter((word) => !negations.has(word) && word !== "do" && word !== "does"),
    value: all.slice(end),
    isNegated: words.filter((word) => negations.has(word)).length % 2 === 1,
  };
}

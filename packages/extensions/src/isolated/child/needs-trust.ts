/**
 * Refuses what works only in an extension that the user trusts, because it cannot leave its process or would take keys
 * along.
 */
import { ExtensionError } from "../../errors.ts";

export interface NeedsTrust {
  /** Sentences for the user, each once. */
  readonly sentences: readonly string[];
  /** Notes that something is left out. */
  note(what: string): void;
  /** The error of a call that cannot be left out silently. */
  refuse(what: string): Error;
}

/** `report` is called with each sentence that is new. */
export function createNeedsTrust(name: string, report: (sentence: string) => void): NeedsTrust {
  const sentences = new Set<string>();
  const add = (what: string): string => {
    const sentence = `This needs trust: ${what}. Without it, ${name} runs in a process of its own, where that is not possible. To trust it: tau extensions trust ${name}`;
    if (!sentences.has(sentence)) {
      sentences.add(sentence);
      report(sentence);
    }
    return sentence;
  };
  return {
    get sentences() {
      return [...sentences];
    },
    note: (what) => void add(what),
    refuse: (what) => new ExtensionError("denied", add(what)),
  };
}

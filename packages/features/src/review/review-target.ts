/** The changes that are reviewed, as people name them. Pure. */

export type ReviewTarget =
  | { readonly kind: "uncommitted" }
  /** Everything since the branch began, also what is not committed. */
  | { readonly kind: "base"; readonly name: string }
  | { readonly kind: "commit"; readonly name: string };

type ParsedTarget =
  | { readonly kind: "parsed"; readonly target: ReviewTarget; readonly instructions: string }
  /** A single word may be the name of a branch or a commit, or say what to look at. */
  | { readonly kind: "word"; readonly word: string }
  | { readonly kind: "invalid"; readonly problem: string };

/** Parses what follows `/review`: flags first, then words that say what to look at. */
export function parseTarget(args: string): ParsedTarget {
  const [first = "", ...rest] = args.split(/\s+/).filter(Boolean);
  const parsed = (target: ReviewTarget, words: readonly string[]): ParsedTarget => ({
    kind: "parsed",
    target,
    instructions: words.join(" "),
  });
  if (first === "") return parsed({ kind: "uncommitted" }, []);
  const [, flag, inline] = /^--([a-z-]+)(?:=(.*))?$/.exec(first) ?? [];
  if (flag === undefined)
    return rest.length === 0 ? { kind: "word", word: first } : parsed({ kind: "uncommitted" }, [first, ...rest]);
  if (flag === "uncommitted" && inline === undefined) return parsed({ kind: "uncommitted" }, rest);
  if (flag !== "base" && flag !== "commit")
    return { kind: "invalid", problem: `There is no option ${first}. ${usage}` };
  const [name, ...words] = inline === undefined ? rest : [inline, ...rest];
  if (name === undefined || !isName(name)) return { kind: "invalid", problem: `--${flag} needs a name. ${usage}` };
  return parsed({ kind: flag, name }, words);
}

const usage = "Usage: /review [--uncommitted | --base BRANCH | --commit COMMIT] [WHAT TO LOOK AT]";

/** Whether git could take a text for a name, and not for an option. */
export const isName = (text: string): boolean => /^[^-\s][^\s]*$/.test(text);

export function describeTarget(target: ReviewTarget): string {
  switch (target.kind) {
    case "uncommitted":
      return "the uncommitted changes";
    case "base":
      return `the changes since ${target.name}`;
    case "commit":
      return `the commit ${target.name}`;
  }
}

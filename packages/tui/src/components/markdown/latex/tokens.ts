/** Splits LaTeX into commands, characters and blanks. Pure. */

export type LatexToken =
  | { kind: "command"; name: string }
  | { kind: "character"; text: string }
  /** All blanks that follow each other, or one after a command. */
  | { kind: "blank" };

/** Only one of the known commands has a form with a star. After others a star is a sign. */
const pattern = /\\(operatorname\*|[a-zA-Z]+|[\s\S])|(\s+|~)|%[^\n]*\n?|([^\\])/gu;

export function tokenize(source: string): LatexToken[] {
  return Array.from(source.matchAll(pattern), ([, name, blank, text]): LatexToken[] => {
    if (name !== undefined) return [{ kind: "command", name }];
    if (blank !== undefined) return [{ kind: "blank" }];
    return text === undefined ? [] : [{ kind: "character", text }];
  }).flat();
}

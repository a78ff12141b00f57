/** Splits LaTeX into commands, characters and blanks. Pure. */

export type LatexToken =
  | { kind: "command"; name: string }
  | { kind: "character"; text: string }
  /** As many as there are, or one after a command. */
  | { kind: "blank" };

const pattern = /\\([a-zA-Z]+\*?|[\s\S])|(\s+|~)|%[^\n]*\n?|([^\\])/gu;

export function tokenize(source: string): LatexToken[] {
  return Array.from(source.matchAll(pattern), ([, name, blank, text]): LatexToken[] => {
    if (name !== undefined) return [{ kind: "command", name }];
    if (blank !== undefined) return [{ kind: "blank" }];
    return text === undefined ? [] : [{ kind: "character", text }];
  }).flat();
}

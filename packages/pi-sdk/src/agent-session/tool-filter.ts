/** Decides which tools a session may have. Pure. */
import { matchWildcards } from "@tau/ai/internal";

/** `*` in a name stands for any text. Without allowed names, all that are not excluded are allowed. */
export const createToolFilter =
  (allowed: readonly string[] | undefined, excluded: readonly string[] = []) =>
  (name: string): boolean =>
    (allowed === undefined || matchesAny(allowed, name)) && !matchesAny(excluded, name);

const matchesAny = (patterns: readonly string[], name: string): boolean =>
  patterns.some((pattern) =>
    matchWildcards(
      [...pattern],
      [...name],
      (character) => character === "*",
      (character, other) => character === other,
    ),
  );

/** Whether a list changes the default tools (`+name`, `-name`) instead of naming all of them. Throws for a mixed list. */
export function isToolChange(names: readonly string[]): boolean {
  const changes = names.filter((name) => /^[+-]/.test(name));
  if (changes.length > 0 && changes.length < names.length) {
    throw new Error("A list of tools has either names, or names with + or -, but not both.");
  }
  return changes.length > 0;
}

export const changeTools = (names: readonly string[], changes: readonly string[]): string[] => {
  const added = changes.filter((change) => change.startsWith("+")).map((change) => change.slice(1));
  const removed = new Set(changes.filter((change) => change.startsWith("-")).map((change) => change.slice(1)));
  return [...new Set([...names, ...added])].filter((name) => !removed.has(name));
};

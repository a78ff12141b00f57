/** Tools by their names or by patterns, in which `*` stands for any text. Pure. */
import { didYouMean, matchWildcards } from "@tau/ai/internal";

const isPattern = (text: string): boolean => text.includes("*");

/** Whether a name is in the list, or a pattern of the list matches it. */
export function createNameMatcher(patterns: readonly string[]): (name: string) => boolean {
  const names = new Set(patterns);
  const globs = patterns.filter(isPattern);
  return (name) => names.has(name) || globs.some((glob) => matchesPattern(glob, name));
}

const matchesPattern = (pattern: string, name: string): boolean =>
  matchWildcards(
    [...pattern],
    [...name],
    (part) => part === "*",
    (part, character) => part === character,
  );

/** Whether a name or pattern is that of an MCP server's tools, `mcp__SERVER__TOOL`. They are known once the server runs. */
export const isServerTool = (pattern: string): boolean => pattern.startsWith("mcp__");

/** A sentence for each name or pattern that fits none of the tools, with the nearest name. */
export function findUnknownTools(patterns: readonly string[], tools: readonly string[]): string[] {
  const names = [...new Set(tools)];
  const unknown = patterns.filter((pattern) => !isServerTool(pattern) && !names.some(createNameMatcher([pattern])));
  return unknown.map((pattern) => {
    const problem = isPattern(pattern) ? "No tool matches" : "There is no tool";
    const hint = didYouMean(pattern.replaceAll("*", ""), names) || ` The tools are: ${names.join(", ")}.`;
    return `${problem} ${JSON.stringify(pattern)}.${hint}`;
  });
}

/**
 * The tools of the setting `defaultTools`, as lists of the user and of the project: plain names replace what was there
 * before, `+name` adds a tool and `-name` removes one.
 */
export function resolveDefaultTools(
  lists: readonly (readonly string[] | null | undefined)[],
  defaults: readonly string[],
): readonly string[] {
  let names = defaults;
  for (const list of lists) {
    if (!list) continue;
    const plain = list.filter((entry) => !/^[+-]/.test(entry));
    if (plain.length > 0 || list.length === 0) names = plain;
    for (const entry of list) {
      const name = entry.slice(1);
      if (entry.startsWith("-")) names = names.filter((each) => each !== name);
      if (entry.startsWith("+") && !names.includes(name)) names = [...names, name];
    }
  }
  return names;
}

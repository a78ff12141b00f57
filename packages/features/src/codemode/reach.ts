/**
 * Tools that scripts never call: they would run code again, choose a tool in another way, or speak to the person. Only features
 * may call the last one.
 */
const unreachable: ReadonlySet<string> = new Set([
  "codemode",
  "eval",
  "call_tool",
  "ask",
  "propose_plan",
  "change_files",
]);

/** Functions of scripts that see all tools. */
const listing = /\b(?:ALL_TOOLS|searchTools|describeTool|describeNamespace)\b/;

/** All tools for a script that looks for them, else its words. */
export const listReachedTools = (code: string): "all" | string[] =>
  listing.test(code) ? "all" : [...new Set(code.match(/[A-Za-z_$][\w$]*/g))];

export const isReachable = ({ name }: { readonly name: string }): boolean => !unreachable.has(name);

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

export const isReachable = ({ name }: { readonly name: string }): boolean => !unreachable.has(name);

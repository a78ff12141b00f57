/** Tools that scripts never call: they would run code again, choose a tool in another way, or speak to the person. */
const unreachable: ReadonlySet<string> = new Set(["codemode", "eval", "call_tool", "ask", "propose_plan"]);

export const isReachable = ({ name }: { readonly name: string }): boolean => !unreachable.has(name);

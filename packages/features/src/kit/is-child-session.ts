/** Tells sessions of agents from those of people. */
import type { ExtensionContext } from "@tau/extensions";

/** Whether another session writes the prompts. A branch of a session has a parent too, but a person. */
export function isChildSession({ sessionManager }: Pick<ExtensionContext, "sessionManager">): boolean {
  const header = sessionManager.getHeader() as { parentId?: string | null; branchPoint?: string | null } | null;
  return typeof header?.parentId === "string" && typeof header.branchPoint !== "string";
}

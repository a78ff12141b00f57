/** The check behind the judge: asked when a file is really opened, wherever a link may lead by then. */
import type { Guard } from "@tau/tools";
import { credentialReasonForModel, verbs } from "./default-policy.ts";
import type { FileGrants } from "./grants.ts";
import { type PathRules, pathStanding, resolvePathRules } from "./paths.ts";

export interface GuardParts {
  isAllowed: (realPath: string, access: "read" | "write") => boolean;
  /** For the model. Default: that it is not allowed. */
  explain?: (realPath: string, access: "read" | "write") => string;
}

/** Refuses what is not allowed, with a `ToolsError` of the code `denied`. */
export function createGuard({ isAllowed, explain = notAllowed }: GuardParts): Guard {
  return (realPath, access) => (isAllowed(realPath, access) ? undefined : refuse(explain(realPath, access)));
}

/** The guard of a session or of one call: never credentials, and what a person would be asked for only with a grant. */
export function createPathGuard(pathRules: PathRules, grants: FileGrants): Guard {
  const rules = resolvePathRules(pathRules);
  return createGuard({
    isAllowed(realPath, access) {
      const standing = pathStanding(realPath, access, rules);
      return standing === "allowed" || (standing === "asks" && grants.allows(access, realPath));
    },
    explain: (realPath, access) =>
      pathStanding(realPath, access, rules) === "denied"
        ? credentialReasonForModel(realPath)
        : outside(realPath, access),
  });
}

const notAllowed = (realPath: string, access: "read" | "write") => `${verbs[access]} ${realPath} is not allowed.`;

const outside = (realPath: string, access: "read" | "write") =>
  `${notAllowed(realPath, access)} It is outside the workspace: name it by that path to ask for it, or work with what is inside.`;

/** Loaded late: a guard is created at every start, and refuses only when the tools are loaded anyway. */
async function refuse(reason: string): Promise<never> {
  const { ToolsError } = await import("@tau/tools");
  throw new ToolsError("denied", reason);
}

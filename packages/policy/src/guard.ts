/** The check behind the judge: asked when a file is really opened, wherever a link may lead by then. */
import type { Guard } from "@tau/tools";
import type { CredentialHomes } from "@tau/sandbox/internal";
import { credentialReason, credentialReasonForModel, explainDenial, verbs } from "./default-policy.ts";
import type { FileGrants } from "./grants.ts";
import { planWriteReason } from "./plan-mode.ts";
import { type PathRules, pathStanding, resolvePathRules, type RuledStanding, ruledStanding } from "./paths.ts";

interface GuardParts {
  isAllowed: (realPath: string, access: "read" | "write") => boolean;
  /** For the model. Default: that it is not allowed. */
  explain?: (realPath: string, access: "read" | "write") => string;
}

/** Refuses what is not allowed, with a `ToolsError` of the code `denied`. */
export function createGuard({ isAllowed, explain = notAllowed }: GuardParts): Guard {
  return (realPath, access) => (isAllowed(realPath, access) ? undefined : refuse(explain(realPath, access)));
}

/**
 * The guard of a session or of one call: never credentials, what a person would be asked for only with a grant, and in plan mode no
 * writing at all.
 */
export function createPathGuard(pathRules: PathRules, grants: FileGrants, isPlanning: () => boolean): Guard {
  const rules = resolvePathRules(pathRules);
  const guard = createGuard({
    isAllowed(realPath, access) {
      if (access === "write" && isPlanning()) return false;
      const standing = pathStanding(realPath, access, rules);
      return standing === "allowed" || (standing === "asks" && grants.allows(access, realPath));
    },
    explain: (realPath, access) =>
      access === "write" && isPlanning()
        ? planWriteReason(realPath)
        : explainStanding(realPath, access, ruledStanding(realPath, access, rules).rule),
  });
  return withoutLinkedCredentials(guard, rules, credentialReasonForModel);
}

/** The guard of files that a person shows the model: all but credentials. */
export function createPersonGuard(pathRules: PathRules): Guard {
  const rules = resolvePathRules(pathRules);
  const isAllowed: GuardParts["isAllowed"] = (path, access) => pathStanding(path, access, rules) !== "denied";
  return withoutLinkedCredentials(createGuard({ isAllowed, explain: credentialReason }), rules, credentialReason);
}

/** Refuses other names of credentials too. */
function withoutLinkedCredentials(guard: Guard, rules: CredentialHomes, explain: (path: string) => string): Guard {
  return async (realPath, access, file) => {
    await guard(realPath, access, file);
    // Writing does not change what is under the other names.
    if (access === "write" || file.hardLinks === 1) return;
    const { findLinkedCredential } = await import("@tau/sandbox/internal");
    const credential = findLinkedCredential(realPath, rules);
    if (credential !== undefined) await refuse(explain(credential));
  };
}

const notAllowed = (realPath: string, access: "read" | "write") => `${verbs[access]} ${realPath} is not allowed.`;

/** A link led there: by its real path a person could be asked about it. */
function explainStanding(realPath: string, access: "read" | "write", rule: RuledStanding["rule"]): string {
  if (rule === "credential-file" || rule === "own-settings" || rule === "closed-outside")
    return explainDenial(realPath, rule);
  const why = rule === "protected" ? "Programs outside of the sandbox run or obey it" : "It is outside the workspace";
  return `${notAllowed(realPath, access)} ${why}: name it by that path to ask for it, or work with what is inside.`;
}

/** Loaded late: a guard is created at every start, and refuses only when the tools are loaded anyway. */
async function refuse(reason: string): Promise<never> {
  const { ToolsError } = await import("@tau/tools");
  throw new ToolsError("denied", reason);
}

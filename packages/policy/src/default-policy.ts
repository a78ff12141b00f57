/** The default rules for paths: the workspace is allowed, credentials are denied, and for the rest a person is asked. Pure. */
import { type PathRules, resolvePathRules, type RuledStanding, ruledStanding } from "./paths.ts";
import type { PolicyRequest, Verdict } from "./policy.ts";

const why = {
  outside: "it is outside the workspace",
  "agent-directory": "it holds tau's own configuration",
  protected: "programs outside of the sandbox run or obey what is in it",
} as const;

export const verbs = { read: "Reading", write: "Writing" } as const;

/**
 * Credential files are denied; paths in `roots` are allowed, and reading in `readable`; reading or writing elsewhere asks, and
 * so does writing what other programs run, such as git hooks.
 * Everything else is allowed. Throws for a directory that is not absolute.
 */
export function createDefaultPolicy(options: PathRules): (request: PolicyRequest) => Verdict {
  const rules = resolvePathRules(options);
  return ({ capability, target }) => {
    if (target.kind !== "path") return { kind: "allow", rule: "default" };
    const { path } = target;
    // Any capability but reading may write too.
    const access = capability === "read" ? "read" : "write";
    const ruled = ruledStanding(path, access, rules);
    const { rule } = ruled;
    switch (ruled.standing) {
      case "allowed":
        return { kind: "allow", rule };
      case "asks": {
        const reason = `${verbs[access]} ${path} needs permission: ${why[ruled.rule]}.`;
        return { kind: "ask", rule, reason };
      }
      case "denied":
        return { kind: "deny", rule, reason: explainDenial(path, ruled.rule) };
    }
  };
}

/** For models. */
export const explainDenial = (path: string, rule: DenyingRule): string => denialReasons[rule](path);

type DenyingRule = Extract<RuledStanding, { standing: "denied" }>["rule"];

const ownSettingsReason = (path: string): string =>
  `${path} holds tau's settings, which no tool may write. Only the user may change them: in the file, or where tau shows its settings.`;

/** For people. */
export const credentialReason = (path: string): string =>
  `${path} is where credentials are kept, so tau does not open it.`;

/** For models. */
export const credentialReasonForModel = (path: string): string =>
  `${path} is where credentials are kept, and no tool may open it. If something from it is needed, ask the user.`;

const denialReasons: Readonly<Record<DenyingRule, (path: string) => string>> = {
  "credential-file": credentialReasonForModel,
  "own-settings": ownSettingsReason,
  "closed-outside": (path) => `${path} is outside the working directory, and nobody can allow it in this session.`,
};

/** Reports the policy and the sandbox to surfaces. */
import type { PermissionData, PolicyData, SandboxData } from "@tau/protocol";
import type { SandboxSettings, SandboxState } from "@tau/sandbox";
import type { Permissions } from "./permissions.ts";
import type { ExtensionPolicy } from "./extension-policy.ts";
import { policyProfiles, profileTexts } from "./profiles.ts";
import { formatRule, listRules } from "./remembered-rules.ts";

interface PolicyReportParts {
  cwd: string;
  agentDir: string;
  /** Read for each report: settings change. */
  getPolicy: () => ExtensionPolicy;
  getProfile: () => string;
  permissions: Permissions;
  mode: SandboxSettings["mode"];
  /** Tries whether commands run in the sandbox. Undefined if it is off. */
  trySandbox: (() => Promise<SandboxState>) | undefined;
  /** Whether it is known from the start that there is no sandbox here. */
  isSandboxMissing: boolean;
}

export class PolicyReport {
  readonly #parts: PolicyReportParts;
  #known: SandboxState | undefined;

  constructor(parts: PolicyReportParts) {
    this.#parts = parts;
  }

  /** The sandbox, as far as it is known: tries nothing. */
  get sandbox(): SandboxData {
    const { mode, trySandbox, isSandboxMissing } = this.#parts;
    if (!trySandbox) return { mode, state: "off" };
    if (!this.#known) return { mode, state: isSandboxMissing ? "unavailable" : "untried" };
    if (this.#known.kind !== "unavailable") return { mode, state: this.#known.kind };
    const { kind, reason, fix } = this.#known;
    return { mode, state: kind, reason, fix };
  }

  async trySandbox(): Promise<SandboxState> {
    return (this.#known = (await this.#parts.trySandbox?.()) ?? { kind: "off" });
  }

  /** The permissions, as far as it is known whether there is a sandbox. */
  get permissions(): PermissionData {
    const { permissions } = this.#parts;
    return permissions.describe(permissions.mode === "free" ? this.#describeFree() : undefined);
  }

  #describeFree(): string | undefined {
    const { state, reason = "", fix = "" } = this.sandbox;
    if (state === "works" || state === "untried") return undefined;
    const why = state === "off" ? "The sandbox is turned off" : "The sandbox does not work here";
    return `${why}, so free asks as edit does. ${reason} ${fix}`.trimEnd();
  }

  async describe(): Promise<PolicyData> {
    const { cwd, agentDir, getPolicy, getProfile } = this.#parts;
    const { mode, execMediation } = getPolicy();
    const { denyThreshold, denyPatterns, allowPatterns } = execMediation;
    await this.trySandbox();
    const rules = (await listRules({ agentDir, cwd })).filter(({ project = cwd }) => project === cwd);
    return {
      profile: getProfile(),
      profiles: policyProfiles.map((name) => ({ name, description: profileTexts[name] })),
      permissions: this.permissions,
      mode,
      exec: { denyThreshold, denyPatterns: [...denyPatterns], allowPatterns: [...allowPatterns] },
      sandbox: this.sandbox,
      rules: rules.map((rule) => ({
        rule: formatRule(rule),
        scope: rule.project === undefined ? ("always" as const) : ("project" as const),
      })),
    };
  }
}

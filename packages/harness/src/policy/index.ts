/** The policy: what tools and commands may do, and who decides. */
export { toVisibleLine } from "./call-summary.ts";
export { createDefaultPolicy } from "./default-policy.ts";
export {
  evaluateFor,
  isDangerous,
  isDangerous as is_dangerous,
  type ExtensionOverride,
  type ExtensionPolicy,
  type PolicyCheck,
  type PolicyDecision,
  type PolicyInput,
  type PolicyReason,
  resolvePolicy,
} from "./extension-policy.ts";
export {
  type ExtensionRuns,
  getRuns,
  listExtensionRuns,
  recordExtensionRun,
  runsToCandidate,
} from "./extension-runs.ts";
export {
  changeTrust,
  type ExtensionTrustOptions,
  type ExtensionTrustState,
  forgetExtensionTrust,
  listExtensionTrust,
  readExtensionTrust,
  type StoredTrust,
  type TrustedPlace,
  type TrustEntry,
  type TrustSubject,
  type TrustChange,
  type TrustRecord,
  writeExtensionTrust,
} from "./extension-trust.ts";
export { createSessionFrameRedactor, type FrameRedactor } from "./frame-redactor.ts";
export { restrictPolicy } from "./restrict-policy.ts";
export { classifyArgv, classifyCommand } from "./exec/classify-command.ts";
export type { Classification, ExecClass, ExecContext, ExecTier } from "./exec/classification.ts";
export type { DangerousCommandClass } from "./exec/dangerous-class.ts";
export { withDiskLinks } from "./exec/disk-links.ts";
export { evaluateExecMediation } from "./exec/evaluate-exec.ts";
export { type ExecMediationPolicy, type ExecMediationResult, type ExecSituation, mediate } from "./exec/mediation.ts";
export type { SecretBrokerPolicy } from "./secret-names.ts";
export type { PathRules } from "./paths.ts";
export {
  type Answer,
  type Ask,
  type Audit,
  capabilities,
  type Capability,
  type Decide,
  type Decision,
  type PolicyRequest,
  type Question,
  type Subject,
  type Target,
  type Verdict,
} from "./policy.ts";
export { getLedgerPath, type LedgerProblem, type LedgerRecord, verifyLedger } from "./ledger.ts";
export { formatRule, listRules, type RememberedRule, removeRule } from "./remembered-rules.ts";
export { getSandboxSettings, getSessionPolicy } from "./session-policy.ts";
export { openSettings, type OpenSettingsOptions } from "./open-settings.ts";
export { findUnknownTools } from "../pipeline/tool-patterns.ts";
export { describeIgnoredPiFiles } from "../resources/locations.ts";
export { readNamedFile } from "../resources/read-named-file.ts";
export { isAboutTextsOnly, keepTrust, readTrust, type TrustOptions, writeTrust } from "./trust.ts";

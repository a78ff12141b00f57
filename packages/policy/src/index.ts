/** The policy: what tools and commands may do, and who decides. What reads commands is in `exec/`. */
export {
  type AnswerRecords,
  type AnswerStore,
  createAnswerFile,
  createAnswerMemory,
  createStoredAnswers,
  type KeptQuestion,
} from "./answer-store.ts";
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
export { extendPolicy, type PolicyExtension, type PolicyRule } from "./extend-policy.ts";
export { getLedgerPath, type LedgerProblem, type LedgerRecord, verifyLedger } from "./ledger.ts";
export type { PathRules } from "./paths.ts";
export {
  type Answer,
  type Ask,
  type Audit,
  capabilities,
  type Capability,
  type Decide,
  type Decision,
  type PolicyCall,
  type PolicyRequest,
  type Question,
  type Subject,
  type Target,
  type Verdict,
} from "./policy.ts";
export { formatRule, listRules, type RememberedRule, removeRule } from "./remembered-rules.ts";
export { restrictPolicy } from "./restrict-policy.ts";
export type { SecretBrokerPolicy } from "./secrets/secret-names.ts";
export { findUnknownTools } from "./tool-patterns.ts";

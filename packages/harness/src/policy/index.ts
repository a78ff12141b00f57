/** Who may do what. */
export { createDefaultPolicy } from "./default-policy.ts";
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
export { findUnknownTools } from "../pipeline/tool-patterns.ts";
export { isProjectTrusted, readTrust, type TrustOptions, writeTrust } from "./trust.ts";

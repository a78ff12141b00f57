/** What a policy says about commands. */
import type { ExecTier } from "./classification.ts";

export interface ExecMediationPolicy {
  readonly enabled: boolean;
  /** Commands of this tier and above are denied without a question. */
  readonly denyThreshold: ExecTier;
  /** Commands by their first words; `*` at the end stands for any further words. */
  readonly denyPatterns: readonly string[];
  /** As `denyPatterns`. They never cover the tier `critical`. */
  readonly allowPatterns: readonly string[];
  /** Whether commands that were recognised as dangerous are audited although they are allowed. */
  readonly auditAllClassified: boolean;
}

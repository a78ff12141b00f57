/** Reads commands: what a command line does, without running it, and what is decided about it. */
export type { Classification, ExecClass, ExecContext, ExecTier } from "./classification.ts";
export { classifyArgv, classifyCommand } from "./classify-command.ts";
export type { DangerousCommandClass } from "./dangerous-class.ts";
export { withDiskLinks } from "./disk-links.ts";
export { evaluateExecMediation } from "./evaluate-exec.ts";
export { type ExecMediationPolicy, type ExecMediationResult, type ExecSituation, mediate } from "./mediation.ts";

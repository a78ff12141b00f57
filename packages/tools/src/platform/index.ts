/** The ports alone, for code that needs files and leases but no tools. */
export { capabilities } from "../access.ts";
export { systemCode, tolerate, ToolsError, unlessMissing } from "../errors.ts";
export { getKind } from "./explain.ts";
export { type FileSystem, lookAt, nodeFileSystem, type OpenHandle } from "./file-system.ts";
export { keyPatterns, looksLikeKey } from "./key-patterns.ts";
export {
  acquireLease,
  findLeaseHolder,
  isAbandoned,
  type Lease,
  type LeaseHolder,
  type LeaseOptions,
  type LeaseOutcome,
  noLinkCodes,
} from "./lease.ts";
export { pathOfHandle } from "./open-path.ts";
export { type Glob, parseGlob } from "../search/glob.ts";
export { type Line, readLines } from "./stream-lines.ts";
export { foldName, foldNames, isWithin } from "./within.ts";
export { holdsPassword, isSecretName } from "../shell/environment.ts";
export { detectImageType, type ImageType } from "../files/sniff.ts";
export { maxOutputMb, type ProgramEnd, runToEnd, type RunToEndOptions } from "./run-to-end.ts";

/** The ports alone, for code that needs files and leases but no tools. */
export { capabilities } from "../access.ts";
export { systemCode, ToolsError } from "../errors.ts";
export { type FileSystem, lookAt, nodeFileSystem, type OpenHandle } from "./file-system.ts";
export { keyPatterns } from "./key-patterns.ts";
export {
  acquireLease,
  type Lease,
  type LeaseHolder,
  type LeaseOptions,
  type LeaseOutcome,
  noLinkCodes,
} from "./lease.ts";
export { pathOfHandle } from "./open-path.ts";
export { foldName, isWithin } from "./within.ts";

/** Shared by the packages of tau; users do not need it. It may change in any version. */
export {
  type CredentialHomes,
  isCredentialFile,
  isNamedCredential,
  isOwnCredential,
  isOwnSettingsFile,
  mayHoldCredentials,
} from "../credentials/credential-files.ts";
export { isCredentialPattern, isOwnPattern } from "../credentials/credential-patterns.ts";
export { findNamedCredentials, type NamedCredential } from "../credentials/named-credentials.ts";
export { defaultOwnDirectories } from "../credentials/own-files.ts";
export { isNamedFor, isProjectSecret, projectSecretReason } from "../credentials/project-secrets.ts";
export { describeSandbox, isSandboxMissing } from "../describe-sandbox.ts";
export { findSystemFacts } from "../facts.ts";
export { findProjectSecrets } from "../find-project-secrets.ts";
export { isLoginKey, isRunningKey, leadingPaths, runningPaths } from "../git/what-git-runs.ts";
export { findHiddenPaths } from "../hidden-paths.ts";
export { createLateSandbox } from "../late-sandbox.ts";
export { createPlanSandbox } from "../plan-sandbox.ts";
export { findRealPath, lookAtPath, readLink } from "../look.ts";
export type { FoundPath } from "../mounts.ts";
export type { PortPolicy } from "../network/asked-ports.ts";
export { findObstacle, findPrograms, tryBwrap } from "../probe.ts";
export { findHelper, findProgram } from "../programs.ts";
export { isProtectedPath, protectedNames } from "../protected-names.ts";
export { isPublicAddress } from "../proxy/addresses.ts";
export type { Address } from "../proxy/admit.ts";
export { parseHost } from "../proxy/host.ts";
export { createHostRules } from "../proxy/rules.ts";
export { restrictSandbox } from "../restrict-settings.ts";
export { createSystemCallFilter } from "../system-calls.ts";
export { spawnInside } from "../spawn-inside.ts";
export { findLinkedCredential } from "../credentials/linked-credentials.ts";
export { getTemporaryDirectories, withTemporaryFiles } from "../temporary-files.ts";

/** Which projects and extensions the user trusts, and the settings that follow from it. */
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
export { openSettings, type OpenSettingsOptions } from "./open-settings.ts";
export { getSandboxSettings, getSessionPolicy } from "./session-policy.ts";
export { isAboutTextsOnly, keepTrust, readTrust, type TrustOptions, writeTrust } from "./trust.ts";

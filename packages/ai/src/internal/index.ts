/** What the packages of tau share and users do not need. It may change in any version. */
export { createAssistantMessage, getFailure, withFailure } from "../assistant-message.ts";
export { assumedProperties, describeUnlisted, getUnlistedModel } from "../catalog/catalog.ts";
export { sleep } from "../clock.ts";
export { assertNever, getErrorMessage } from "../errors.ts";
export { asRecord, isRecord, tryParseJson } from "../json.ts";
export { didYouMean, nearestNames } from "../nearest.ts";
export type { StandardSchema } from "../schema/adapt.ts";
export { thinkingLevels } from "../thinking.ts";
export { withoutUserinfo } from "../userinfo.ts";
export { closeAfter } from "./close-after.ts";
export { deepFreeze } from "./freeze.ts";
export { Listeners } from "./listeners.ts";
export { oncePer, oncePerPair } from "./once.ts";
export { SerialQueue } from "./serial-queue.ts";
export { untilAborted, type UntilAborted } from "./until-aborted.ts";
export { untilTimeout, type UntilTimeout } from "./until-timeout.ts";
export { matchWildcards } from "./wildcards.ts";
export { withoutUndefined } from "./without-undefined.ts";

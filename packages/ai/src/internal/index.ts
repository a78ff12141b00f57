/** What the packages of tau share and users do not need. It may change in any version. */
export { createAssistantMessage, withFailure } from "../assistant-message.ts";
export { sleep } from "../clock.ts";
export { assertNever, getErrorMessage } from "../errors.ts";
export { isRecord } from "../json.ts";
export { didYouMean, nearestNames } from "../nearest.ts";
export { thinkingLevels } from "../thinking.ts";
export { withoutUserinfo } from "../userinfo.ts";
export { deepFreeze } from "./freeze.ts";
export { Listeners } from "./listeners.ts";
export { oncePer, oncePerPair } from "./once.ts";
export { SerialQueue } from "./serial-queue.ts";
export { untilAborted, type UntilAborted } from "./until-aborted.ts";
export { untilTimeout, type UntilTimeout } from "./until-timeout.ts";

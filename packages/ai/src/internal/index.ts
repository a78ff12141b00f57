/** Shared by the packages of tau; users do not need it. It may change in any version. */
export { createAssistantMessage, getFailure, withFailure } from "../assistant-message.ts";
export { assumedProperties } from "../catalog/builtin-models.ts";
export {
  describeUnlisted,
  getBuiltinModels,
  getRetiredModels,
  getUnlistedModel,
  isRegisteredModel,
} from "../catalog/catalog.ts";
export { resolveLocalBaseUrl } from "../providers/local-servers.ts";
export { getPriceFactor } from "../protocols/openai-responses/service-tier.ts";
export { getProviderInfo, toProviderId } from "../providers/index.ts";
export { createCustomApiProvider } from "../custom-provider.ts";
export { sleep } from "../clock.ts";
export { assertNever, getErrorMessage } from "../errors.ts";
export { classifyThrown, parseDuration, parseRetryAfter } from "../failure.ts";
export { toShortHash } from "../hash.ts";
export { asRecord, isRecord, tryParseJson } from "../json.ts";
export { didYouMean, nearestNames } from "../nearest.ts";
export { isToolParameters, type StandardSchema, toJsonSchema } from "../schema/adapt.ts";
export { findSchemaFault } from "../schema/check-schema.ts";
export { platform } from "#platform";
export { getBuiltinProvider, replaceApi } from "../registry.ts";
export { StreamingJson } from "../protocols/streaming-json.ts";
export { callProvider } from "../stream.ts";
export { thinkingLevels } from "../thinking.ts";
export { createProxiedFetch, type Fetch } from "../transport/proxied-fetch.ts";
export { findProxy, getProxyAuthorization } from "../transport/proxy.ts";
export { addUsage, roundCost, toAmount } from "../usage.ts";
export { withoutUserinfo } from "../userinfo.ts";
export { version } from "../version.ts";
export { unwrapToolCall } from "../wrapped-call.ts";
export { findJson } from "../output/find-json.ts";
export { checkOutput, describeOutput, findOutputFault, type OutputCheck } from "../output/output-schema.ts";
export { formatCorrection, formatOutputRequest } from "../output/output-prompt.ts";
export { parseOutput, readOutput } from "../output/read-output.ts";
export { closeAfter } from "./close-after.ts";
export { Closers } from "./closers.ts";
export { joinTextBlocks } from "./text-blocks.ts";
export { followSignal } from "./follow-signal.ts";
export { deepFreeze } from "./freeze.ts";
export { Listeners } from "./listeners.ts";
export { oncePer, oncePerPair } from "./once.ts";
export { PendingWork } from "./pending-work.ts";
export { isSameList } from "./same-list.ts";
export { SerialQueue } from "./serial-queue.ts";
export { stringifyJson } from "./stringify-json.ts";
export { untilAborted } from "./until-aborted.ts";
export { untilTimeout } from "./until-timeout.ts";
export { matchWildcards } from "./wildcards.ts";
export { withoutUndefined } from "./without-undefined.ts";

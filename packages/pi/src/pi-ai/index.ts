/** pi's module `pi-ai`. The functions of earlier versions that later moved to `pi-ai/compat` are here too. */
import { notThere } from "../not-there.ts";

export {
  AssistantMessageEventStream,
  calculateCost,
  clampThinkingLevel,
  clearApiProviders,
  createAssistantMessageEventStream,
  EventStream,
  getSupportedThinkingLevels,
  isContextOverflow,
  modelsAreEqual,
  parseStreamingJson,
  StringEnum,
  unregisterApiProviders,
} from "@tau/ai";
export { Type } from "typebox";
export {
  defaultProviderAuthContext,
  envApiKeyAuth,
  InMemoryCredentialStore,
  InMemoryModelsStore,
  lazyOAuth,
} from "./auth.ts";
export {
  generateImages,
  getBuiltinModel as getModel,
  getBuiltinModels as getModels,
  getBuiltinProviders as getProviders,
  getImageModel,
  getImageModels,
  getImageProviders,
  getImagesApiProvider,
  getModelType,
  hasApi,
  isModelType,
  registerBuiltInImagesApiProviders,
  registerImagesApiProvider,
} from "./catalog.ts";
export { contentText } from "./content.ts";
export {
  appendAssistantMessageDiagnostic,
  createAssistantMessageDiagnostic,
  extractDiagnosticError,
  formatThrownValue,
} from "./diagnostics.ts";
export * from "./env-keys.ts";
export {
  createFauxCore,
  fauxAssistantMessage,
  fauxProvider,
  fauxText,
  fauxThinking,
  fauxToolCall,
  registerFauxProvider,
} from "./faux.ts";
export {
  formatUserAgent,
  getAttributionHeaders,
  getClientVersion,
  getIdentityHeaders,
  getOpenCodeSessionHeaders,
  mergeClientIdentity,
  PI_AI_VERSION,
  PI_ATTRIBUTION,
  withClientIdentity,
} from "./identity.ts";
export { parseJsonWithRepair, parseToolCallArguments, repairJson, ToolCallArgumentsStream } from "./json.ts";
export { lazyApi, lazyStream } from "./lazy.ts";
export { createModels } from "./model-collection.ts";
export { ModelsError } from "./models-error.ts";
export { createAI, createProvider, registerProvider } from "./described-provider.ts";
export {
  DEFAULT_MAX_AGENT_RETRY_DELAY_MS,
  isRecoverableLength,
  isRetryableAssistantError,
  retryAssistantCall,
  retryDelayMs,
} from "./retry.ts";
export { extractRetryDelay } from "./retry-delay.ts";
export { cleanupSessionResources, registerSessionResourceCleanup } from "./session-resources.ts";
export * from "./streams.ts";
export {
  declarationsEqual,
  getDeclaredTools,
  getToolStateChanges,
  hasNonAdditiveToolChanges,
  hasToolRedefinitions,
  resolveTranscriptTools,
  toToolDeclaration,
} from "./tool-declarations.ts";
export {
  collapseSystemMessages,
  createInitialSystemMessage,
  getCurrentSystemMessage,
  getCurrentSystemPrompt,
  getCurrentTools,
  getInitialSystemMessage,
  getSystemMessageText,
  normalizeContext,
  renderSystemMessageUpdate,
  resolveTranscript,
  withoutInitialSystemMessage,
} from "./transcript.ts";
export { uuidv7 } from "./uuid.ts";
export { validateToolArguments, validateToolCall } from "./validate.ts";

/** tau's own spans follow the conventions of OpenTelemetry, so there are none with pi's names. */
export const AI_TELEMETRY_SCHEMA = { version: 1, spans: {}, metrics: {} } as const;

const failures = 'tau classifies failures where they happen. Use isContextOverflow(message), or "failure.kind" of it.';
export const getOverflowPatterns = notThere("getOverflowPatterns", failures);
export const StreamingJsonParser = notThere(
  "StreamingJsonParser",
  "use ToolCallArgumentsStream for arguments, or parseStreamingJson for other objects.",
);
export const piMessagesApi = notThere("piMessagesApi", "tau does not speak the protocol of pi's own gateway.");
export const generateImagesOpenRouter = notThere("generateImagesOpenRouter", "tau makes no images.");
export const setBedrockProviderModule = notThere(
  "setBedrockProviderModule",
  "Bedrock is built in and needs no module of its own.",
);
export const streamGoogleGeminiCli = notThere("streamGoogleGeminiCli", "there is no such API any more. Use google.");
export const streamSimpleGoogleGeminiCli = notThere(
  "streamSimpleGoogleGeminiCli",
  "there is no such API any more. Use google.",
);

const requests = "tau builds requests inside its protocols. Use stream(), or onPayload to see and change one.";
export const buildRequest = notThere("buildRequest", requests);
export const convertMessages = notThere("convertMessages", requests);

/** Whether a model thinks harder than `high`. */
export { supportsXhigh } from "./thinking.ts";

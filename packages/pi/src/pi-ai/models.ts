/** pi's module `pi-ai/models`. */
export {
  AI_TELEMETRY_SCHEMA,
  calculateCost,
  clampThinkingLevel,
  createModels,
  createProvider,
  getModelType,
  getSupportedThinkingLevels,
  hasApi,
  isModelType,
  ModelsError,
  modelsAreEqual,
} from "./index.ts";

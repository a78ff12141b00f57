/** The public surface. A name that appears or disappears here is a decision, not an accident. */
import { expect, test } from "vitest";
import * as root from "../src/index.ts";
import * as testing from "../src/testing/index.ts";

test("the root exports these values and no others", () => {
  expect(Object.keys(root).sort()).toEqual([
    "AiError",
    "AssistantMessageEventStream",
    "EventStream",
    "StringEnum",
    "assertNever",
    "calculateCost",
    "clampThinkingLevel",
    "clearApiProviders",
    "complete",
    "completeSimple",
    "createAI",
    "createAssistantMessageEventStream",
    "createProvider",
    "defineProtocol",
    "didYouMean",
    "emptyUsage",
    "findEnvKeys",
    "getApiProvider",
    "getApiProviders",
    "getEnvApiKey",
    "getErrorMessage",
    "getModel",
    "getModels",
    "getProviders",
    "getSupportedThinkingLevels",
    "isAiError",
    "isContextOverflow",
    "isRecord",
    "isRetryable",
    "listLocalModels",
    "modelsAreEqual",
    "nearestNames",
    "optionalStringEnum",
    "parseStreamingJson",
    "parseThinkingLevel",
    "registerApiProvider",
    "registerModels",
    "registerProvider",
    "sleep",
    "startRequest",
    "stream",
    "streamSimple",
    "systemClock",
    "systemIds",
    "systemRandom",
    "unregisterApiProviders",
    "unregisterModels",
    "validateToolArguments",
    "validateToolCall",
    "withoutUserinfo",
  ]);
});

test("the testing kit exports these values and no others", () => {
  expect(Object.keys(testing).sort()).toEqual([
    "assertGrammar",
    "call",
    "createFakeClock",
    "providerContract",
    "scriptedModel",
    "startWireServer",
    "text",
    "thinking",
    "wireDialects",
  ]);
});

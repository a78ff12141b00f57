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
    "calculateCost",
    "clampThinkingLevel",
    "clearApiProviders",
    "complete",
    "completeSimple",
    "createAI",
    "createAssistantMessageEventStream",
    "createProvider",
    "defineProtocol",
    "emptyUsage",
    "findEnvKeys",
    "getApiProvider",
    "getApiProviders",
    "getEnvApiKey",
    "getModel",
    "getModels",
    "getProviders",
    "getSupportedThinkingLevels",
    "isAiError",
    "isContextOverflow",
    "isRetryable",
    "listLocalModels",
    "modelsAreEqual",
    "optionalStringEnum",
    "parseStreamingJson",
    "parseThinkingLevel",
    "registerApiProvider",
    "registerModels",
    "registerProvider",
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

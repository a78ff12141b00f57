/** The public surface. A name that appears or disappears here is a decision, not an accident. */
import { expect, test } from "vitest";
import * as root from "../src/index.ts";

test("the root exports these values and no others", () => {
  expect(Object.keys(root).sort()).toEqual([
    "AuthStorage",
    "HarnessError",
    "MemoryLog",
    "Session",
    "SessionManager",
    "buildContext",
    "buildSystemPrompt",
    "collectLeftBranch",
    "compact",
    "contextEntries",
    "contextMessages",
    "contextTokens",
    "convertToLlm",
    "createExpandPort",
    "createFileStore",
    "createMemoryStore",
    "createResourceLoader",
    "dateOf",
    "defaultAgentDir",
    "estimateTokens",
    "expandPrompt",
    "exportHtml",
    "exportJsonl",
    "exportMarkdown",
    "firstDifference",
    "importSession",
    "listNamedAgents",
    "loadNamedAgent",
    "loginMethods",
    "oauthProviders",
    "planCompaction",
    "recover",
    "resolveCompactionSettings",
    "sessionDirectory",
    "shouldCompact",
    "summariseBranch",
  ]);
});

/** The public surface. A name that appears or disappears here is a decision, not an accident. */
import { expect, test } from "vitest";
import * as root from "../src/index.ts";

test("the root exports these values and no others", () => {
  expect(Object.keys(root).sort()).toEqual([
    "HarnessError",
    "MemoryLog",
    "Session",
    "SessionManager",
    "buildContext",
    "collectLeftBranch",
    "compact",
    "contextEntries",
    "contextMessages",
    "contextTokens",
    "convertToLlm",
    "createFileStore",
    "createMemoryStore",
    "defaultAgentDir",
    "estimateTokens",
    "exportHtml",
    "exportJsonl",
    "exportMarkdown",
    "importSession",
    "planCompaction",
    "recover",
    "resolveCompactionSettings",
    "sessionDirectory",
    "shouldCompact",
    "summariseBranch",
  ]);
});

/** The public names: adding or removing one has to be intended. */
import { expect, test } from "vitest";
import * as root from "../src/index.ts";

test("the root exports these values and no others", () => {
  expect(Object.keys(root).sort()).toEqual([
    "Agent",
    "AgentError",
    "agentLoop",
    "agentLoopContinue",
    "createProxyHandler",
    "defaultConvertToLlm",
    "resumeAgentLoop",
    "runAgentLoop",
    "runAgentLoopContinue",
    "streamProxy",
  ]);
});

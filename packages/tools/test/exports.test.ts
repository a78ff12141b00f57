/** The public surface. A name that appears or disappears here is a decision, not an accident. */
import { expect, test } from "vitest";
import * as root from "../src/index.ts";
import * as testing from "../src/testing/index.ts";

test("the root exports these values and no others", () => {
  expect(Object.keys(root).sort()).toEqual([
    "ToolsError",
    "acquireLease",
    "applyChanges",
    "capabilities",
    "cleanEnvironment",
    "countMatches",
    "createBashTool",
    "createEditTool",
    "createFileQueue",
    "createFiles",
    "createFindTool",
    "createFirstProcess",
    "createGrepTool",
    "createGuardedFiles",
    "createHashlineEditTool",
    "createHashlinePatchTool",
    "createJobs",
    "createJobsTool",
    "createLsTool",
    "createReadTool",
    "createSafeText",
    "createSnapshots",
    "createSpawn",
    "createTools",
    "createWriteTool",
    "defaultToolNames",
    "definitions",
    "findPidNamespace",
    "inspectImage",
    "isWithin",
    "listExisting",
    "listSourceFiles",
    "locateRipgrep",
    "mergeLines",
    "mightBeWithin",
    "nodeFileSystem",
    "planEdits",
    "prepareImage",
    "resolvePath",
    "summariseChanges",
    "toolNames",
  ]);
});

test("the testing kit exports these values and no others", () => {
  expect(Object.keys(testing).sort()).toEqual(["faultyFileSystem", "withEveryFault"]);
});

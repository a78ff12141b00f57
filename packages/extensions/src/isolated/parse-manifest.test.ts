import { expect, test } from "vitest";
import { parseManifest } from "./parse-manifest.ts";

const needed = { name: "go", label: "Go", description: "Does it.", parameters: { type: "object" } };
const parseTool = (fields: object) => parseManifest({ tools: [{ tool: { ...needed, ...fields } }] })?.tools[0]?.tool;

test.each([
  { promptSnippet: 5 },
  { promptGuidelines: "Use it." },
  { promptGuidelines: [null] },
  { promptGuidelines: [{ text: "Use it." }] },
  { executionMode: "ordered" },
  { exposure: {} },
  { defaultActive: "no" },
  { namespace: "mine" },
  { annotations: null },
  { readOnly: "yes" },
  { needsApproval: "yes" },
  { shows: 1 },
  { parameterNeeds: { path: "bash" } },
])("a tool is taken without %j, which a session could not work with", (fields) => {
  expect(parseTool(fields)).toEqual(needed);
});

test("a tool keeps the fields that are valid", () => {
  const fields = {
    promptSnippet: "does it",
    promptGuidelines: ["Use it.", { with: ["bash"], text: "Not bash." }],
    executionMode: "sequential",
    exposure: "model-only",
    defaultActive: false,
    namespace: { name: "mine" },
    annotations: { readOnlyHint: true },
    readOnly: true,
    needsApproval: true,
    shows: "text",
    parameterNeeds: { path: ["bash"] },
    outputSchema: { type: "object" },
  };
  expect(parseTool(fields)).toEqual({ ...needed, ...fields });
});

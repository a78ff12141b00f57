import { expect, test } from "vitest";
import type { Registrations } from "../../api/extension.ts";
import { describeRegistrations } from "./describe.ts";

const describeNeed = (needsApproval: unknown) => {
  const tool = { name: "pay", description: "Pays.", execute: async () => ({ content: [] }), needsApproval };
  const none = new Map();
  const registrations = {
    handlers: none,
    tools: new Map([["pay", tool]]),
    commands: none,
    shortcuts: none,
    flags: none,
    providers: none,
    mcpServers: none,
    messageRenderers: none,
    entryRenderers: none,
    virtualModels: none,
    toolRenderers: [],
    markdownTransformers: [],
  } as unknown as Registrations;
  const needsTrust = { note: () => {}, sentences: [] };
  const manifest = describeRegistrations(registrations, needsTrust as never, { ids: {} } as never);
  return manifest.tools[0]?.tool.needsApproval;
};

test.each([
  [undefined, undefined],
  [false, false],
  [true, true],
  [({ amount }: { amount: number }) => amount > 100, true],
])("a tool whose needsApproval is %s is described with %s", (given, described) => {
  expect(describeNeed(given)).toBe(described);
});

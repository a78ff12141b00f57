/** Extensions with tools of the same names are used instead of ours. */
import { call, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import type { ExtensionAPI } from "@tau/extensions";
import { allFeatures } from "../../src/index.ts";
import { createTestSession } from "../kit.ts";

test.each(["task", "agents", "subagent"])("a tool %s of an extension comes first", async (name) => {
  const tool = {
    name,
    label: name,
    description: "Theirs.",
    parameters: { type: "object", properties: {} },
    execute: async () => ({ content: [{ type: "text" as const, text: "theirs" }] }),
  };
  const { prompt, session, model, dispose } = await createTestSession([[call(name, {})], [text("Done.")]], {
    features: allFeatures,
    extensions: { factories: [(tau: ExtensionAPI) => tau.registerTool(tool as never)] },
  });
  onTestFinished(dispose);
  await prompt("go");
  expect(JSON.stringify(session.messages)).toContain('"text":"theirs"');
  const listed = model.asked[0]!.context.tools!.filter((other) => other.name === name);
  expect(listed.map(({ description }) => description)).toEqual(["Theirs."]);
});

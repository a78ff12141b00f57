/** Tools that change how the model is shown the others, in real sessions. */
import { call, text } from "@tau/ai/testing";
import { Type } from "typebox";
import { expect, onTestFinished, test } from "vitest";
import type { ExtensionAPI, ExtensionFactory, ToolDefinition } from "@tau/extensions";
import { createTestSession } from "../../src/testing/index.ts";

const registerTool = (tau: ExtensionAPI, name: string, more: Partial<ToolDefinition> = {}) =>
  tau.registerTool({
    name,
    label: name,
    description: `About ${name}.`,
    parameters: Type.Object({}),
    execute: async () => ({ content: [text(`${name} was called`)], details: {} }),
    ...more,
  });

async function open(factory: ExtensionFactory, replies: Parameters<typeof createTestSession>[0]) {
  const opened = await createTestSession(replies, { extensions: { factories: [factory] } });
  onTestFinished(() => opened.dispose());
  return opened;
}

test("a hidden tool is in no request and no prompt, stays active, and is called by others", async () => {
  const active: string[][] = [];
  const factory: ExtensionFactory = (tau) => {
    registerTool(tau, "helper", { promptSnippet: "help a lot" });
    registerTool(tau, "orchestrate", {
      prepareLoadout: ({ getPromptGuidelines }) => ({
        descriptions: { orchestrate: `Calls helper.${getPromptGuidelines("helper").join()}` },
        hiddenDeclarations: ["helper"],
      }),
      async execute(_id, _params, _signal, _onUpdate, context) {
        active.push(tau.getActiveTools());
        const { result } = await context.executeTool("helper", {});
        return { content: result.content, details: {} };
      },
    });
  };
  const opened = await open(factory, [[call("orchestrate", {}, "1")], [text("Done.")]]);
  await opened.prompt("go");
  const { tools = [], systemPrompt } = opened.model.asked[0]!.context;
  expect(tools.map(({ name }) => name)).not.toContain("helper");
  expect(tools.find(({ name }) => name === "orchestrate")?.description).toBe("Calls helper.");
  expect(systemPrompt).not.toContain("help a lot");
  expect(active[0]).toContain("helper");
  expect(JSON.stringify(opened.session.messages)).toContain("helper was called");
});

test("the changes end when the tool is not active any more", async () => {
  const factory: ExtensionFactory = (tau) => {
    registerTool(tau, "helper");
    registerTool(tau, "orchestrate", { prepareLoadout: () => ({ hiddenDeclarations: ["helper"] }) });
  };
  const { session } = await open(factory, []);
  const list = () => session.tools.map(({ name }) => name);
  expect(list()).not.toContain("helper");
  session.setActiveTools(["helper", "read"]);
  expect(list().toSorted()).toEqual(["helper", "read"]);
  session.setActiveTools(["helper", "orchestrate"]);
  expect(list()).toEqual(["orchestrate"]);
});

test("a function that throws is reported, and the tools are shown as they are", async () => {
  const { session } = await open((tau) => {
    registerTool(tau, "broken", {
      prepareLoadout: () => {
        throw new Error("no");
      },
    });
  }, []);
  expect(session.tools.map(({ name }) => name)).toContain("broken");
  expect(session.notices.map(({ message }) => message)).toContain(
    "The tool broken could not change how the model is shown the tools: no",
  );
});

test("getAllTools has guidelines as texts, and what a call of a tool reaches", async () => {
  const api: ExtensionAPI[] = [];
  await open((tau) => {
    api.push(tau);
    registerTool(tau, "reacher", { promptGuidelines: ["Use reacher."], reachesTools: ({ name }) => [String(name)] });
  }, []);
  const tools = api[0]!.getAllTools();
  const reacher = tools.find(({ name }) => name === "reacher")!;
  expect(reacher.promptGuidelines).toEqual(["Use reacher."]);
  expect(reacher.reachesTools?.({ name: "ls" })).toEqual(["ls"]);
});

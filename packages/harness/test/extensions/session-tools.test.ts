/** Tests tools of extensions, and commands that extensions run. */
import { call, text } from "@tau/ai/testing";
import { Type } from "typebox";
import { expect, test } from "vitest";
import type { ExtensionContext } from "@tau/extensions";
import { open, createCircle } from "./session-events-kit.ts";

test("a tool of an extension is called, reports its progress and sees its session", async () => {
  const contexts: ExtensionContext[] = [];
  const { prompt, transcript, model } = await open([[call("greet", { name: "Ada" })], [text("Hi.")]], (tau) => {
    tau.registerTool({
      name: "greet",
      label: "Greet",
      description: "Greets somebody.",
      parameters: Type.Object({ name: Type.String() }),
      async execute(_id, { name }, _signal, onUpdate, context) {
        contexts.push(context);
        onUpdate?.({ content: [{ type: "text", text: "greeting" }] });
        return { content: [{ type: "text", text: `Hello ${name}` }], details: { name } };
      },
    });
  });
  await prompt("greet Ada");
  expect(model.asked[0]?.context.tools?.map(({ name }) => name)).toContain("greet");
  expect(transcript().join("\n")).toContain("Hello Ada");
  expect(contexts[0]?.sessionManager.getBranch().map(({ type }) => type)).toContain("message");
  expect(contexts[0]?.mode).toBe("print");
});

test("a tool that names no parameters is called as any other tool of an extension", async () => {
  const seen: unknown[] = [];
  const { prompt, session } = await open([[call("now", { zone: "UTC" })], [text("Noon.")]], (tau) => {
    const execute = async (...[id, params]: [string, unknown]) => {
      seen.push(id, params);
      return { content: [{ type: "text", text: "12:00" }] };
    };
    tau.registerTool({ name: "now", label: "Now", description: "The time.", execute } as never);
  });
  await prompt("What time is it?");
  expect(seen).toEqual([expect.any(String), { zone: "UTC" }]);
  expect(session.tools.find(({ name }) => name === "now")?.parameters).toEqual({ type: "object", properties: {} });
});

test("a registration that is not valid fails where it is, and the session goes on", async () => {
  const messages: string[] = [];
  const { prompt, transcript } = await open([[text("Here.")]], (tau) => {
    tau.registerCommand("junk", {
      handler: () => {
        const junk: (() => void)[] = [
          () => tau.registerTool(5 as never),
          () => tau.registerShortcut(undefined as never, { handler: () => {} }),
          () => tau.registerCommand("empty", undefined as never),
        ];
        for (const register of junk) {
          try {
            register();
          } catch (error) {
            messages.push((error as Error).message);
          }
        }
      },
    });
  });
  await prompt("/junk");
  await prompt("Are you there?");
  expect(messages).toHaveLength(3);
  expect(transcript().join("\n")).toContain("Here.");
});

test("a tool that answers with isError has failed", async () => {
  const { prompt, events } = await open([[call("fail", {})], [text("Sorry.")]], (tau) => {
    const execute = async () => ({ content: [{ type: "text" as const, text: "no" }], isError: true });
    tau.registerTool({ name: "fail", label: "Fail", description: "", parameters: Type.Object({}), execute });
  });
  await prompt("try");
  expect(events.find(({ type }) => type === "tool_execution_end")).toMatchObject({ success: false, output: "no" });
});

test.each<[string, () => unknown]>([
  ["refer to themselves", createCircle],
  ["have a BigInt", () => ({ count: 1n })],
])("details that %s fail the call, and the session goes on", async (_what, createDetails) => {
  const { prompt, events, transcript } = await open([[call("odd", {})], [text("I see.")]], (tau) => {
    const execute = async () => ({ content: [{ type: "text" as const, text: "done" }], details: createDetails() });
    tau.registerTool({ name: "odd", label: "Odd", description: "", parameters: Type.Object({}), execute });
  });
  await prompt("try");
  const output = expect.stringContaining("Its details cannot be stored:");
  expect(events.find(({ type }) => type === "tool_execution_end")).toMatchObject({ success: false, output });
  expect(transcript().join("\n")).toContain("I see.");
});

test("a command of the user is run elsewhere", async () => {
  const { session } = await open([], (tau) => {
    tau.on("user_bash", ({ command }) =>
      command === "date"
        ? { result: { output: "yesterday", exitCode: 0, cancelled: false, truncated: false } }
        : {
            operations: {
              async exec(line, _cwd, { onData }) {
                onData(Buffer.from(`ran ${line}`));
                return { exitCode: 3 };
              },
            },
          },
    );
  });
  expect(await session.executeBash("date")).toMatchObject({ output: "yesterday", exitCode: 0 });
  expect(await session.executeBash("ls")).toMatchObject({ output: "ran ls", exitCode: 3 });
});

test("a tool calls another tool as the model would, and the policy judges it", async () => {
  const outcomes: unknown[] = [];
  const { prompt } = await open(
    [[call("both", {})], [text("Done.")]],
    (tau) => {
      tau.registerTool({
        name: "both",
        label: "Both",
        description: "",
        parameters: Type.Object({}),
        async execute(_id, _params, _signal, _onUpdate, context) {
          outcomes.push(await context.executeTool("ls", {}));
          outcomes.push(await context.executeTool("read", { path: "/etc/shadow" }));
          outcomes.push(await context.executeTool("nothing", {}));
          return { content: [{ type: "text", text: "ok" }] };
        },
      });
    },
    { files: { "x.txt": "" } },
  );
  await prompt("both");
  expect(outcomes).toMatchObject([{ isError: false }, { isError: true }, { isError: true }]);
  expect(JSON.stringify(outcomes[0])).toContain("x.txt");
});

test("handlers change the result of a failed call of another tool too", async () => {
  const outcomes: unknown[] = [];
  const { prompt } = await open([[call("outer", {})], [text("Done.")]], (tau) => {
    const parameters = Type.Object({});
    const describe = { label: "", description: "", parameters };
    const execute = async () => {
      throw new Error("The password is swordfish.");
    };
    tau.registerTool({ name: "inner", ...describe, execute });
    tau.registerTool({
      name: "outer",
      ...describe,
      async execute(_id, _params, _signal, _onUpdate, context) {
        outcomes.push(await context.executeTool("inner", {}));
        return { content: [], details: {} };
      },
    });
    tau.on("tool_result", ({ toolName, isError }) =>
      toolName === "inner" && isError ? { content: [{ type: "text", text: "It failed." }] } : undefined,
    );
  });
  await prompt("go");
  expect(outcomes).toMatchObject([{ isError: true, result: { content: [{ type: "text", text: "It failed." }] } }]);
});

test("a tool that replaces a built-in one is there, and nothing is said about it", async () => {
  const { session } = await open([], (tau) => {
    tau.registerTool({ name: "read", label: "Read", description: "Mine", parameters: {}, execute: () => "" } as never);
  });
  expect(session.tools.find(({ name }) => name === "read")?.description).toBe("Mine");
  expect(session.notices).toEqual([]);
});

/** Extensions in real sessions: what they are told and in which order, and what their answers do. */
import { getErrorMessage } from "@tau/ai/internal";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call, text } from "@tau/ai/testing";
import { Type } from "typebox";
import { expect, onTestFinished, test } from "vitest";
import { createAgentSession } from "../../src/construct/create-agent-session.ts";
import {
  type ExtensionAPI,
  type ExtensionContext,
  type ExtensionFactory,
  extensionEventNames,
  noUi,
} from "@tau/extensions";
import { createTestSession, type TestSessionParams } from "../../src/testing/index.ts";
import type { TestTurn } from "../../src/testing/script.ts";

async function open(turns: readonly TestTurn[], factory: ExtensionFactory, params: TestSessionParams = {}) {
  const opened = await createTestSession(turns, { ...params, extensions: { factories: [factory] } });
  onTestFinished(() => opened.dispose());
  return opened;
}

const listen = (tau: ExtensionAPI, seen: string[]) => {
  for (const name of extensionEventNames) {
    tau.on(name as "agent_start", (event) => void seen.push(event.type));
  }
};

test("the session is idle for handlers of agent_settled, and what they send is answered after all of them", async () => {
  const seen: string[] = [];
  const opened = await open([[text("One.")], [text("Two.")]], (tau) => {
    tau.on("agent_end", (_event, ctx) => void seen.push(`end ${ctx.isIdle()}`));
    tau.on("agent_settled", (_event, ctx) => {
      if (!seen.includes("settled true")) tau.sendUserMessage("More.");
      seen.push(`settled ${ctx.isIdle()}`);
    });
    tau.on("agent_settled", (_event, ctx) => void seen.push(`heard ${ctx.isIdle()}`));
    tau.on("agent_start", (_event, ctx) => void seen.push(`start ${ctx.isIdle()}`));
  });
  await opened.prompt("go");
  const once = ["start false", "end false", "settled true", "heard true"];
  expect(seen).toEqual([...once, ...once]);
  expect(opened.transcript().join("\n")).toContain("Two.");
});

test("a run with a call tells its events in this order", async () => {
  const seen: string[] = [];
  const { prompt, session } = await open([[call("ls", {})], [text("Done.")]], (tau) => listen(tau, seen));
  await prompt("look");
  await session.dispose();
  const told = seen.filter((name) => name !== "message_update");
  expect(told).toEqual([
    "session_start",
    "resources_discover",
    "input",
    "before_agent_start",
    "agent_start",
    "turn_start",
    "message_start",
    "message_end",
    "context",
    "context_with_system",
    "message_start",
    "message_end",
    "tool_execution_start",
    "tool_call",
    "tool_result",
    "tool_execution_end",
    "message_start",
    "message_end",
    "turn_end",
    "turn_start",
    "context",
    "context_with_system",
    "message_start",
    "message_end",
    "turn_end",
    "agent_before_settle",
    "agent_end",
    "agent_settled",
    "session_shutdown",
  ]);
  expect(seen).toContain("message_update");
});

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

const createCircle = (): unknown => {
  const details: Record<string, unknown> = {};
  return (details["self"] = details);
};

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

test("messages, entries and answers that cannot be stored are reported, and the session goes on", async () => {
  const { session, prompt, transcript } = await open([[call("ls", {})], [text("I see.")]], (tau) => {
    const details = createCircle();
    const message = { customType: "odd", content: "odd", display: true, details };
    tau.registerCommand("message", { handler: () => tau.sendMessage(message) });
    tau.registerCommand("entry", { handler: () => tau.appendEntry("odd", details) });
    tau.on("before_agent_start", () => ({ message }));
    tau.on("tool_result", () => ({ details }));
  });
  for (const name of ["/message", "/entry"]) await session.submit(name);
  await prompt("try");
  const told = session.notices.map(({ message }) => /failed: (.* cannot be stored):/.exec(message)?.[1]);
  const answer = "Its answer cannot be stored";
  expect(told).toEqual(["The message cannot be stored", "The entry cannot be stored", answer, answer]);
  expect(transcript().join("\n")).toContain("I see.");
});

test("entries and messages are stored as they were when they were given", async () => {
  const { prompt, session } = await open([[text("Done.")]], (tau) => {
    tau.registerCommand("count", {
      handler: () => {
        const state = { count: 0 };
        const message = { customType: "count", content: "one", display: true, details: state };
        for (state.count = 1; state.count < 4; state.count++) tau.appendEntry("count", state);
        tau.sendMessage(message);
        message.content = "two";
        state.count = 5;
      },
    });
  });
  await prompt("/count");
  await prompt("go");
  const entries = await session.sessionManager.getEntries();
  const stored = entries.flatMap((entry) =>
    entry.type === "custom" && entry.customType === "count" ? entry.data : [],
  );
  expect(stored).toEqual([{ count: 1 }, { count: 2 }, { count: 3 }]);
  const message = entries.find(({ type }) => type === "custom_message");
  expect(message).toMatchObject({ content: "one", details: { count: 4 } });
});

test("entries, labels and names are written in the order in which an extension gives them", async () => {
  const { prompt, session } = await open([[text("Done.")]], (tau) => {
    tau.registerCommand("mark", {
      handler: (_args, ctx) => {
        tau.sendMessage({ customType: "first", content: "one", display: true });
        tau.appendEntry("second");
        tau.setLabel(ctx.sessionManager.getLeafId()!, "third");
        tau.setSessionName("fourth");
        tau.appendEntry("fifth");
      },
    });
  });
  await prompt("go");
  const before = (await session.sessionManager.getEntries()).length;
  await prompt("/mark");
  await session.waitForIdle();
  const entries = (await session.sessionManager.getEntries()).slice(before);
  expect(entries.map(({ type }) => type)).toEqual(["custom_message", "custom", "label", "session_info", "custom"]);
});

test("entries without a type or with one of tau's own, and labels of nothing, are refused", async () => {
  const { prompt, session, events } = await open([[text("Done.")]], (tau) => {
    tau.registerCommand("junk", {
      handler: (_args, ctx) => {
        tau.appendEntry("tau.navigated", {});
        tau.appendEntry(undefined as never, {});
        tau.setLabel(ctx.sessionManager.getLeafId()!, "here");
      },
    });
  });
  await prompt("/junk");
  await prompt("go");
  const entries = await session.sessionManager.getEntries();
  expect(entries.filter(({ type }) => type === "custom" || type === "label")).toEqual([]);
  const told = events.flatMap((event) => (event.type === "notice" ? [event.message] : []));
  expect(told.join("\n")).toContain("The type of an entry is a text");
  expect(told.join("\n")).toContain("Setting a label failed");
});

test("what an extension without types passes to its session is refused by its name, and nothing of it is in the log", async () => {
  const thrown: unknown[] = [];
  const { prompt, session, events } = await open([[text("Done.")]], (tau) => {
    tau.registerCommand("junk", {
      handler: async (_args, ctx) => {
        tau.setSessionName(5 as never);
        tau.sendUserMessage([{ type: "image" }] as never);
        const calls = [
          async () => tau.setActiveTools("read" as never),
          async () => await ctx.navigateTree("nowhere", { label: 5 } as never),
        ];
        for (const run of calls) await run().catch((error: unknown) => thrown.push(getErrorMessage(error)));
      },
    });
  });
  const { tools } = session;
  await prompt("/junk");
  await session.waitForIdle();
  expect(thrown).toEqual(['"names" has to be a list, not "read".', '"options.label" has to be a string, not 5.']);
  const notices = events.flatMap((event) => (event.type === "notice" ? [event.message] : [])).join("\n");
  expect(notices).toContain('"name" has to be a string, not 5.');
  expect(notices).toContain('"images[0].data" has to be a string, and is missing.');
  expect(session.messages).toEqual([]);
  expect(session.tools).toBe(tools);
});

test("handlers change arguments before the policy judges them, block calls, and change results", async () => {
  const turns = [[call("read", { path: "a.txt" })], [call("read", { path: "secret.txt" })], [text("Done.")]];
  const files = { "a.txt": "A", "b.txt": "B", "secret.txt": "S" };
  const factory: ExtensionFactory = (tau) => {
    tau.on("tool_call", ({ input }) => {
      if (input["path"] === "a.txt") input["path"] = "b.txt";
      if (input["path"] === "secret.txt") return { block: true, reason: "Not this file." };
      return undefined;
    });
    tau.on("tool_result", ({ content }) => ({ content: [...content, { type: "text", text: "(seen)" }] }));
  };
  const { prompt, session } = await open(turns, factory, { files });
  await prompt("read");
  const results = session.messages.filter((message) => message.role === "toolResult");
  expect(results[0]?.content.map((block) => (block.type === "text" ? block.text : ""))).toEqual([
    expect.stringContaining("B"),
    "(seen)",
  ]);
  expect(results[1]).toMatchObject({ isError: true, content: [{ type: "text", text: "Not this file." }] });
});

test("a handler of tool_call that throws denies the call", async () => {
  const { prompt, session } = await open([[call("ls", {})], [text("Done.")]], (tau) => {
    tau.on("tool_call", () => {
      throw new Error("broken guard");
    });
  });
  await prompt("look");
  const result = session.messages.find((message) => message.role === "toolResult");
  expect(result).toMatchObject({ isError: true });
  expect(JSON.stringify(result)).toContain("broken guard");
});

test("the context, the prompt and messages can be changed for a run, and the log keeps what was said", async () => {
  const { prompt, model, session } = await open([[text("One.")], [text("Two.")]], (tau) => {
    tau.on("context", ({ messages }) => ({
      messages: [...messages, { role: "user", content: "only now", timestamp: 0 }],
    }));
    tau.on("before_agent_start", ({ systemPrompt, ...event }) =>
      event.messageType === "user" && event.prompt === "first"
        ? {
            systemPrompt: `${systemPrompt}\nSay it in verse.`,
            message: { customType: "note", content: "a note", display: true },
          }
        : undefined,
    );
  });
  await prompt("first");
  await prompt("second");
  expect(model.asked[0]?.context.systemPrompt).toContain("Say it in verse.");
  expect(model.asked[1]?.context.systemPrompt).not.toContain("Say it in verse.");
  expect(JSON.stringify(model.asked[0]?.context.messages)).toContain("only now");
  expect(JSON.stringify(session.messages)).not.toContain("only now");
  expect(session.messages.map(({ role }) => role)).toEqual(["user", "custom", "assistant", "user", "assistant"]);
  const entries = await session.sessionManager.getEntries();
  expect(entries.filter(({ type }) => type === "custom_message")).toHaveLength(1);
});

test("sections that handlers add stand in the prompt between tags", async () => {
  const { prompt, model } = await open([[text("One.")]], (tau) => {
    tau.on("before_agent_start", ({ systemPromptOptions }) => {
      systemPromptOptions.appendSystemPrompt = "Be kind.";
      systemPromptOptions.sections["guidance"] = "Look twice.";
    });
    tau.on("before_agent_start", ({ systemPromptOptions: { sections } }) => {
      sections["guidance"] += " Leap once.";
    });
  });
  await prompt("go");
  expect(model.asked[0]?.context.systemPrompt).toMatch(
    /Be kind\.\s+<guidance>\nLook twice\. Leap once\.\n<\/guidance>/,
  );
});

test("without a terminal there is a theme that styles nothing", async () => {
  let line = "";
  const { session, prompt } = await open([[text("One.")]], (tau) => {
    tau.on("agent_start", (_event, { ui: { theme } }) => {
      line = theme.bold(theme.fg("accent", "a")) + theme.style("b", { fg: "dim" }) + theme.getFgAnsi("accent");
      line += theme.getThinkingBorderColor("high")("c");
    });
  });
  await prompt("go");
  expect(session.notices).toEqual([]);
  expect(line).toBe("abc");
});

test("commands of extensions and handled input never reach the model", async () => {
  const calls: string[] = [];
  const { session } = await open([], (tau) => {
    tau.registerCommand("hello", { description: "Says hello", handler: (args) => void calls.push(`hello ${args}`) });
    tau.on("input", ({ text: typed }) => (typed === "ping" ? { action: "handled" } : { action: "continue" }));
  });
  expect(await session.submit("/hello big world")).toEqual({ disposition: "handled" });
  expect(await session.submit("ping")).toEqual({ disposition: "handled" });
  expect(calls).toEqual(["hello big world"]);
  expect(session.extensions?.describeCommands()).toMatchObject([{ name: "hello", source: "extension" }]);
  expect(session.messages).toEqual([]);
});

test("a command that fails is told to the user", async () => {
  const { session } = await open([], (tau) => {
    tau.registerCommand("oops", {
      handler: () => {
        throw new Error("no luck");
      },
    });
  });
  await session.submit("/oops");
  expect(session.notices.at(-1)?.message).toContain("Its command /oops failed: no luck");
});

test("messages of extensions start a run, steer one, or wait for the next prompt", async () => {
  let api: ExtensionAPI | undefined;
  const note = (content: string) => ({ customType: "note", content, display: true });
  const factory: ExtensionFactory = (tau) => {
    api = tau;
    tau.on("tool_execution_start", () => tau.sendMessage(note("steered"), { deliverAs: "steer" }));
  };
  const { prompt, session, until, model } = await open(
    [[call("ls", {})], [text("Done.")], [text("Answered.")]],
    factory,
  );
  await prompt("look");
  expect(JSON.stringify(model.asked[1]?.context.messages)).toContain("steered");
  api?.sendMessage(note("for later"), { deliverAs: "nextTurn" });
  expect(session.isStreaming).toBe(false);
  api?.sendMessage(note("answer this"), { triggerTurn: true });
  await until("agent_end");
  await until("agent_end");
  await session.waitForIdle();
  const sent = JSON.stringify(model.asked[2]?.context.messages);
  expect(sent).toContain("answer this");
  expect(sent).toContain("for later");
});

test("at the end of a turn entries are added and one more request is made", async () => {
  let isAsked = false;
  const { prompt, model, session } = await open([[text("One.")], [text("Two.")]], (tau) => {
    tau.on("turn_end", () => {
      if (isAsked) return undefined;
      isAsked = true;
      return {
        entries: [{ type: "custom_message", customType: "more", content: "go on", display: true }],
        continue: true,
      };
    });
  });
  await prompt("begin");
  expect(model.asked).toHaveLength(2);
  expect(JSON.stringify(model.asked[1]?.context.messages)).toContain("go on");
  expect(session.messages.map(({ role }) => role)).toEqual(["user", "assistant", "custom", "assistant"]);
});

test("entries without a wish to continue do not continue the run", async () => {
  const { prompt, model } = await open([[text("One.")]], (tau) => {
    tau.on("agent_before_settle", () => ({
      entries: [{ type: "custom_message", customType: "note", content: "noted", display: true }],
    }));
  });
  await prompt("begin");
  expect(model.asked).toHaveLength(1);
});

test("a message is replaced before it is in the log", async () => {
  const { prompt, session } = await open([[text("secret")]], (tau) => {
    tau.on("message_end", ({ message }) =>
      message.role === "assistant"
        ? { message: { ...message, content: [{ type: "text", text: "public" }] } }
        : undefined,
    );
  });
  await prompt("say it");
  const [entry] = (await session.sessionManager.getEntries()).filter(
    (each) => each.type === "message" && each.message.role === "assistant",
  );
  expect(JSON.stringify(entry)).toContain("public");
  expect(JSON.stringify(entry)).not.toContain("secret");
});

test("an extension makes the summary of a compaction, or cancels it", async () => {
  const outcomes: string[] = [];
  let cancels = false;
  const long = "word ".repeat(3_000);
  const factory: ExtensionFactory = (tau) => {
    tau.on("session_before_compact", ({ preparation: { firstKeptEntryId, tokensBefore } }) =>
      cancels ? { cancel: true } : { compaction: { summary: "in short", firstKeptEntryId, tokensBefore } },
    );
    tau.on("session_compact", ({ fromExtension }) => void outcomes.push(`compacted ${fromExtension}`));
    tau.on("session_compact_failed", ({ aborted }) => void outcomes.push(`failed ${aborted}`));
  };
  const { prompt, session } = await open([[text(long)], [text(long)]], factory);
  await prompt("one");
  await prompt("two");
  expect(await session.compact()).toMatchObject({ kind: "compacted", compaction: { summary: "in short" } });
  cancels = true;
  expect(await session.compact()).toMatchObject({ kind: expect.stringMatching(/aborted|nothing/) });
  expect(outcomes[0]).toBe("compacted true");
});

test("going back to a prompt leaves it to the editor, as going there by hand does", async () => {
  const typed: string[] = [];
  const { prompt, session } = await open([[text("One.")], [text("Two.")]], (tau) => {
    tau.registerCommand("again", {
      async handler(_args, ctx) {
        const prompts = ctx.sessionManager.getEntries().filter((entry) => entry.type === "message");
        await ctx.navigateTree(prompts[2]!.id, { label: "again" });
      },
    });
  });
  await session.attachSurface({ mode: "tui", ui: { ...noUi, setEditorText: (text) => void typed.push(text) } });
  await prompt("first");
  await prompt("second");
  await session.submit("/again");
  expect(typed).toEqual(["second"]);
  expect(session.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  const entries = await session.sessionManager.getEntries();
  const second = entries.filter(({ type }) => type === "message")[2];
  expect(entries.find(({ type }) => type === "label")).toMatchObject({ targetId: second?.id, label: "again" });
});

test("an extension is told in a sentence why nothing was compacted", async () => {
  const told: unknown[] = [];
  const { session } = await open([], (tau) => {
    tau.on("session_compact_failed", ({ errorMessage }) => void told.push(errorMessage));
    tau.registerCommand("shorten", {
      handler: (_args, ctx) =>
        new Promise((resolve) => {
          ctx.compact({ onError: (error) => resolve(void told.push(error.message)) });
        }),
    });
  });
  await session.submit("/shorten");
  const reason = "Nothing was compacted: the conversation is empty.";
  expect(told).toEqual([reason, reason]);
});

test("navigation is cancelled, and told when it happened", async () => {
  let cancels = true;
  const moves: (string | null)[] = [];
  const { prompt, session } = await open([[text("One.")]], (tau) => {
    tau.on("session_before_tree", () => (cancels ? { cancel: true } : undefined));
    tau.on("session_tree", ({ newLeafId }) => void moves.push(newLeafId));
  });
  await prompt("begin");
  const [first] = await session.sessionManager.getBranch();
  expect(await session.navigate(first!.id)).toBe(false);
  cancels = false;
  expect(await session.navigate(first!.id)).toBe(true);
  expect(moves).toEqual([first!.id]);
});

test("a provider of an extension can be chosen, and its own stream function is used", async () => {
  const { session } = await open([], (tau) => {
    tau.registerProvider("mine", {
      baseUrl: "http://127.0.0.1:1",
      apiKey: "key",
      api: "openai-completions",
      models: [
        {
          id: "small",
          name: "Small",
          reasoning: false,
          input: ["text"],
          cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
          contextWindow: 8_000,
          maxTokens: 1_000,
        },
      ],
    });
  });
  expect(session.modelRegistry.find("mine", "small")).toMatchObject({ provider: "mine", contextWindow: 8_000 });
});

test("the model in use takes the address that a login gives it", async () => {
  const { session } = await open([], (tau) => {
    tau.registerProvider("mine", {
      baseUrl: "http://127.0.0.1:1",
      api: "openai-completions",
      models: [{ id: "small" }],
      oauth: {
        name: "Mine",
        login: async () => ({ access: "a", refresh: "r", expires: 9e15 }),
        refreshToken: async (credentials) => credentials,
        getApiKey: () => "key",
        modifyModels: (models) => models.map((model) => ({ ...model, baseUrl: "http://127.0.0.1:2" })),
      },
    });
  });
  await session.setModel(session.modelRegistry.find("mine", "small")!);
  await session.authStorage.login("mine", { notify: () => {} });
  await expect.poll(() => session.model?.baseUrl).toBe("http://127.0.0.1:2");
  await session.authStorage.remove("mine");
  await expect.poll(() => session.model?.baseUrl).toBe("http://127.0.0.1:1");
  const own = { ...session.model!, baseUrl: "http://127.0.0.1:3" };
  await session.setModel(own);
  await session.authStorage.login("mine", { notify: () => {} });
  await expect.poll(() => session.modelRegistry.find("mine", "small")?.baseUrl).toBe("http://127.0.0.1:2");
  expect(session.model).toEqual(own);
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

test("what goes wrong while extensions load is told to the user, and the session works", async () => {
  const { prompt, session } = await open([[text("Hi.")]], (tau) => {
    tau.on("no_such_event" as "agent_start", () => {});
    tau.registerMcpServer("docs", {});
  });
  await prompt("hi");
  const told = session.notices.map(({ message }) => message).join("\n");
  expect(told).not.toContain("no_such_event");
  expect(told).toContain("MCP");
});

test("extensions in files are loaded, with their own modules and those that are shared", async () => {
  const files = {
    "ext/hello.ts": [
      'import { Type } from "@sinclair/typebox";',
      'import { greeting } from "./greeting";',
      "export default function (tau: any) {",
      '  tau.registerTool({ name: "hello", label: "Hello", description: "Says hello.", parameters: Type.Object({}),',
      '    execute: async () => ({ content: [{ type: "text", text: greeting }] }) });',
      "}",
    ].join("\n"),
    "ext/greeting.ts": "export const greeting: string = 'Hello from a file';",
  };
  const { prompt, transcript } = await createTestSession([[call("hello", {})], [text("Done.")]], {
    files,
    extensions: { paths: ["ext/hello.ts"] },
  });
  await prompt("go");
  expect(transcript().join("\n")).toContain("Hello from a file");
});

test("the system prompt is the first message for handlers of context_with_system, and can be replaced", async () => {
  const { prompt, model, session } = await open([[text("Yes.")]], (tau) => {
    tau.on("context_with_system", ({ messages }) => ({
      messages: messages.map((message) =>
        (message.role as string) === "system" ? ({ ...message, content: "Another prompt." } as never) : message,
      ),
    }));
  });
  await prompt("hello");
  expect(model.asked[0]?.context.systemPrompt).toBe("Another prompt.");
  expect(model.asked[0]?.context.messages).toHaveLength(1);
  expect(session.systemPrompt).not.toBe("Another prompt.");
});

test("extensions are told of the thinking level that comes with another model", async () => {
  const told: unknown[] = [];
  const { session, prompt } = await open([[text("Done.")]], (tau) => {
    tau.on("thinking_level_select", ({ level, previousLevel }) => void told.push([previousLevel, level]));
    tau.on("model_select", ({ model }) => void told.push(model.id));
  });
  await prompt("go");
  await session.setModel({ ...session.model!, id: "thinker", reasoning: true });
  await session.setThinkingLevel("high");
  await session.setModel({ ...session.model!, id: "plain", reasoning: false });
  const last = session.thinkingLevel;
  expect(told.slice(-2)).toEqual([["high", last], "plain"]);
  expect(last).not.toBe("high");
});

test("a thinking level that cannot be set any more is told, and ends nothing", async () => {
  const unhandled: unknown[] = [];
  const onUnhandled = (reason: unknown) => void unhandled.push(reason);
  process.prependListener("unhandledRejection", onUnhandled);
  onTestFinished(() => void process.off("unhandledRejection", onUnhandled));
  const factory = (tau: ExtensionAPI) => {
    tau.on("session_shutdown", () => tau.setThinkingLevel("high"));
  };
  const opened = await createTestSession([[text("Done.")]], { extensions: { factories: [factory] } });
  await opened.prompt("go");
  await opened.dispose();
  await new Promise(setImmediate);
  expect(unhandled).toEqual([]);
});

test("what the setting contextSources names is sent last, with each prompt or turn, and is not in the log", async () => {
  const opened = await createTestSession([[call("bash", { command: "echo more >> notes.txt" })], [text("Done.")]], {
    files: { "notes.txt": "first note\n", "status.txt": "grün" },
    settings: {
      sandbox: { mode: "off" },
      contextSources: [
        { name: "notes", file: "notes.txt", each: "turn" },
        { name: "status", command: "cat status.txt; echo status.txt >> asked.txt", maxBytes: 3 },
        { name: "missing", file: "nothing.txt" },
      ],
    },
  });
  onTestFinished(() => opened.dispose());
  await opened.prompt("go");
  const last = (index: number) => JSON.stringify(opened.model.asked[index]?.context.messages.at(-1));
  expect(last(0)).toContain("first note");
  expect(last(0)).toContain("gr\\n(cut)");
  expect(last(0)).toContain("not available");
  expect(last(0)).not.toContain("more");
  expect(last(1)).toContain("more");
  expect(JSON.stringify(await opened.session.sessionManager.getEntries())).not.toContain("first note");
});

test("what breaks a provider's cache names the extension, and what is added at the end breaks none", async () => {
  let changes: "end" | "beginning" = "end";
  const factory = (tau: ExtensionAPI) => {
    tau.on("context", ({ messages }) => {
      const added = { role: "user" as const, content: String(messages.length), timestamp: 0 };
      return { messages: changes === "end" ? [...messages, added] : [added, ...messages] };
    });
  };
  const turns = [[text("One.")], [text("Two.")], [text("Three.")]];
  const opened = await createTestSession(turns, { extensions: { factories: [{ name: "notes", factory }] } });
  onTestFinished(() => opened.dispose());
  const breaks = () => opened.events.filter(({ type }) => type === "cache_break");
  await opened.prompt("one");
  await opened.prompt("two");
  expect(breaks()).toEqual([]);
  changes = "beginning";
  await opened.prompt("three");
  expect(breaks()).toMatchObject([{ reason: "These extensions changed the conversation: <inline:notes>" }]);
});

test("an extension asks a model by itself, with the keys of the user, and what it is told is not in the log", async () => {
  const answers: unknown[] = [];
  const { session } = await open([[text("It is short.")]], (tau) => {
    tau.registerCommand("sum", {
      async handler(_args, { modelRegistry, model }) {
        const question = { messages: [{ role: "user" as const, content: "Sum it up.", timestamp: 0 }] };
        const answer = await modelRegistry.complete(model!, question);
        answers.push(answer.content, modelRegistry.findOfType("image", "x", "y"), modelRegistry.isUsingOAuth(model!));
      },
    });
  });
  await session.submit("/sum");
  expect(answers).toMatchObject([[{ type: "text", text: "It is short." }], undefined, false]);
  expect(session.messages).toEqual([]);
});

test("a handler that empties the messages of an ended turn changes nothing", async () => {
  const { prompt, model, session } = await open([[call("ls", {})], [text("Done.")]], (tau) => {
    const empty = ({ message }: { message: object }) => void Object.assign(message, { content: [] });
    tau.on("turn_end", empty);
    tau.on("message_end", empty);
  });
  await prompt("look");
  expect(model.asked).toHaveLength(2);
  expect(session.messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult", "assistant"]);
  expect(JSON.stringify(session.messages.at(-1))).toContain("Done.");
});

test("a tool that replaces a built-in one is there, and nothing is said about it", async () => {
  const { session } = await open([], (tau) => {
    tau.registerTool({ name: "read", label: "Read", description: "Mine", parameters: {}, execute: () => "" } as never);
  });
  expect(session.tools.find(({ name }) => name === "read")?.description).toBe("Mine");
  expect(session.notices).toEqual([]);
});

test("a session whose model is not there says what is wrong with its extensions, and ends them", async () => {
  let api: ExtensionAPI | undefined;
  const factory: ExtensionFactory = (tau) => {
    api = tau;
    tau.registerMcpServer("docs", {});
  };
  const cwd = await mkdtemp(join(tmpdir(), "tau-no-model-"));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  const opening = createAgentSession({ cwd, agentDir: cwd, model: "mine/one", extensions: { factories: [factory] } });
  await expect(opening).rejects.toThrow(
    /There is no model "mine\/one".*\n {2}<inline:factory>: It registers a server of MCP/,
  );
  expect(() => api!.getFlag("any")).toThrow("the extension was closed");
});

test("a session ends only for extensions that it has begun for, also one that was branched off", async () => {
  const seen: string[] = [];
  const { session, prompt } = await open([[text("One.")]], (tau) => {
    const write = (event: { type: string; reason: string }) => void seen.push(`${event.type} ${event.reason}`);
    tau.on("session_start", write);
    tau.on("session_shutdown", write);
  });
  await prompt("go");
  const branch = await session.branch(session.sessionManager.getLeafId()!);
  await branch.dispose();
  await session.dispose();
  expect(seen).toEqual(["session_start startup", "session_shutdown quit"]);
});

test("a session that was disposed of is not reloaded, so no extension is left running", async () => {
  let loaded = 0;
  const { session } = await open([], () => void loaded++);
  await session.dispose();
  await expect(session.reload()).rejects.toMatchObject({ code: "closed" });
  await expect(session.sessionManager.getEntries()).rejects.toMatchObject({ code: "closed" });
  expect(loaded).toBe(1);
});

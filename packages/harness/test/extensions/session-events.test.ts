/** Extensions in real sessions: what they are told and in which order, and what their answers do. */
import { call, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { type ExtensionAPI, type ExtensionFactory, extensionEventNames, noUi } from "@tau/extensions";
import { createTestSession } from "../../src/testing/index.ts";
import { open } from "./session-events-kit.ts";

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

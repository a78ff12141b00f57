/** Tests what extensions store, send and load, and sessions that end. */
import { getErrorMessage } from "@tau/ai/internal";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { createAgentSession } from "../../src/construct/create-agent-session.ts";
import type { ExtensionAPI, ExtensionFactory } from "@tau/extensions";
import { createTestSession } from "../../src/testing/index.ts";
import { open, createCircle } from "./session-events-kit.ts";

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

test("what goes wrong while extensions load is told to the user, and the session works", async () => {
  const { prompt, session } = await open([[text("Hi.")]], (tau) => {
    tau.on("no_such_event" as "agent_start", () => {});
    expect(() => tau.registerVirtualModel({} as never)).toThrow("A virtual model needs a text as its provider.");
    tau.registerProvider("broken", { baseUrl: "nowhere", models: [{ id: "m" }] } as never);
  });
  await prompt("hi");
  const told = session.notices.map(({ message }) => message).join("\n");
  expect(told).not.toContain("no_such_event");
  expect(told).toContain("broken");
});

test("servers of MCP that extensions register and remove are reported to all of them", async () => {
  const seen: unknown[] = [];
  const names = (tau: ExtensionAPI) => tau.getMcpServers().map(({ name }) => name);
  const { prompt } = await open([[text("Hi.")]], (tau) => {
    tau.registerMcpServer("early", { command: "x" });
    expect(() => tau.registerMcpServer("", { command: "x" })).toThrow(/needs a name/);
    tau.on("mcp_servers_change", ({ servers }) => void seen.push(servers));
    tau.on("session_start", () => {
      tau.registerMcpServer("late", { url: "https://example.com/mcp" });
      expect(names(tau)).toEqual(["early", "late"]);
      tau.unregisterMcpServer("early");
      tau.unregisterMcpServer("none");
    });
  });
  await prompt("hi");
  expect(seen).toMatchObject([
    [{ name: "early" }, { name: "late", config: { url: expect.any(String) } }],
    [{ name: "late" }],
  ]);
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

test("a session whose model is not there says what is wrong with its extensions, and ends them", async () => {
  let api: ExtensionAPI | undefined;
  const factory: ExtensionFactory = (tau) => {
    api = tau;
    tau.registerProvider("mine", { baseUrl: "nowhere" } as never);
  };
  const cwd = await mkdtemp(join(tmpdir(), "tau-no-model-"));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  const opening = createAgentSession({ cwd, agentDir: cwd, model: "mine/one", extensions: { factories: [factory] } });
  await expect(opening).rejects.toThrow(/There is no model "mine\/one".*\n {2}<inline:factory>: .*baseUrl/);
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

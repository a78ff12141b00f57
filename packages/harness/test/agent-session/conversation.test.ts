/**
 * Tests a session's work on its conversation: going back, branching off, compacting, changing the model, asking aside.
 */
import { readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { call, scriptedModel, text } from "@tau/ai/testing";
import { emptyView, reduce, viewFromEntries } from "@tau/protocol";
import type { DescribedTool } from "@tau/tools";
import { expect, test } from "vitest";
import { createAgentSession } from "../../src/construct/create-agent-session.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { SettingsManager } from "@tau/config/settings";
import { type Desk, openDesk, sayTool, temporaryDirectory, getTypes, until } from "./desk.ts";

const getResults = ({ session }: Desk) =>
  session.messages.flatMap((message) => (message.role === "toolResult" ? [message] : []));

const getTexts = (content: readonly { type: string; text?: string }[]) => content.map((block) => block.text).join("");

test("law 3: reducing all events equals the view of the log, in its entries, its leaf and its name", async () => {
  const desk = await openDesk(
    [[text("a"), call("look")], [text("b")], [text("c")], { failure: { kind: "auth", message: "no" } }],
    { customTools: [sayTool("look")] },
  );
  const { session, events } = desk;
  await session.prompt("One.");
  const [first] = await session.sessionManager.getEntries();
  await session.sessionManager.appendSessionInfo("A name");
  await session.prompt("Two.");
  await session.navigate(first!.id);
  await session.prompt("Fails.");
  const live = events.reduce(reduce, emptyView);
  const stored = viewFromEntries(await session.sessionManager.getEntries());
  expect(live.log).toEqual(stored.log);
  expect(live.log.name).toBe("A name");
  expect(live.live).toMatchObject({ run: undefined, message: undefined, tools: [], ended: { reason: "error" } });
});

test("going back leaves what was said, and the model hears only what is on the branch", async () => {
  const { session, model } = await openDesk([[text("one")], [text("two")], [text("other two")]]);
  await session.prompt("First.");
  const leaf = session.sessionManager.getLeafId();
  await session.prompt("Second.");
  await session.navigate(leaf);
  await session.prompt("Another second.");
  expect(model.asked[2]?.context.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  expect(JSON.stringify(model.asked[2]?.context.messages)).not.toContain("two");
  await expect(session.navigate("no such entry")).rejects.toMatchObject({ code: "unknown_entry" });
});

test("a summary of what is left goes along when it is asked for", async () => {
  const { session, model } = await openDesk([[text("one")], [text("two")], [text("We tried two.")], [text("three")]]);
  await session.prompt("First.");
  const leaf = session.sessionManager.getLeafId();
  await session.prompt("Second, in many words. ".repeat(100));
  await session.navigate(leaf, { summarise: true });
  await session.prompt("Third.");
  expect(JSON.stringify(model.asked[3]?.context.messages)).toContain("We tried two.");
});

test("a branch is a session of its own that knows where it comes from", async () => {
  const desk = await openDesk([[text("one")], [text("in the branch")], [text("in the trunk")]]);
  const { session, events } = desk;
  await session.prompt("First.");
  const from = session.sessionManager.getLeafId()!;
  const branch = await session.branch(from);
  await branch.prompt("In the branch.");
  await session.prompt("In the trunk.");
  expect(branch.sessionManager).toMatchObject({ parentId: session.sessionId, branchPoint: from });
  expect(branch.messages).toHaveLength(4);
  expect(events).toContainEqual({ type: "session_branched", branchId: branch.sessionId, branchPoint: from });
  expect(await readFile(branch.sessionFile!, "utf8")).not.toContain("trunk");
  await branch.dispose();
});

test("the tools of layer 3 do what they say", async () => {
  const desk = await openDesk([[text("one")], [call("session_branch")], [text("two")]], {
    binding: { channel: "chat", tools: [] },
  });
  const { session, model } = desk;
  await session.prompt("First.");
  const back = session.sessionManager.getLeafId()!;
  await session.prompt("Branch.");
  const branched = desk.events.flatMap((event) => (event.type === "session_branched" ? event.branchId : []));
  expect(getTexts(getResults(desk)[0]!.content)).toContain(branched[0]);
  model.add([call("session_navigate", { entryId: back })], [text("gone back")]);
  await session.prompt("Go back.");
  expect(session.sessionManager.getLeafId()).toBe(back);
  expect(session.messages).toHaveLength(2);
});

test("a model that does not know an id is told the last entries, and can go to one of them", async () => {
  const desk = await openDesk([[text("One.")], [call("session_navigate")], [text("two")]], {
    binding: { channel: "chat", tools: [] },
  });
  const { session, model } = desk;
  await session.prompt(
    "A question with\nmore than one line, and with far more words than anybody needs to know it again.",
  );
  const back = session.sessionManager.getLeafId()!;
  await session.prompt("List.");
  const lines = getTexts(getResults(desk)[0]!.content).split("\n");
  expect(lines.map((line) => line.replace(/^[0-9a-f]{8}/, "ID"))).toEqual([
    "The last entries:",
    "ID user: A question with more than one line, and with far more words …",
    "ID assistant: One.",
    "ID user: List.",
    "ID assistant: [calls session_navigate]",
  ]);
  expect(lines[2]).toMatch(new RegExp(`^${back} `));
  model.add([call("session_navigate", { entryId: back })], [text("gone back")]);
  await session.prompt("Go back.");
  expect(session.sessionManager.getLeafId()).toBe(back);
});

test("compaction by hand shortens what is sent, and the log keeps everything", async () => {
  const { session, model, events } = await openDesk([[text("one")], [text("A summary.")], [text("two")]]);
  await session.prompt("A long story. ".repeat(2_000));
  const outcome = await session.compact("Keep the moral.");
  expect(outcome.kind).toBe("compacted");
  expect(events).toContainEqual(expect.objectContaining({ type: "compaction_end", reason: "manual" }));
  await session.prompt("And then?");
  const sent = JSON.stringify(model.asked.at(-1)?.context.messages);
  expect(sent).toContain("A summary.");
  expect(sent.length).toBeLessThan(3_000);
  expect(JSON.stringify(await session.sessionManager.getEntries())).toContain("A long story. A long story.");
});

test("a context that is nearly full is compacted within the run, which then goes on", async () => {
  const full = { content: [call("look")], usage: { input: 190_000, output: 10 } };
  const desk = await openDesk([full, [text("A summary.")], [text("done")]], {
    customTools: [sayTool("look", "x".repeat(40_000))],
  });
  await desk.session.prompt("Look. ".repeat(3_000));
  expect(desk.events.filter(({ type }) => type === "compaction_end")).toMatchObject([
    { outcome: { kind: "compacted" } },
  ]);
  expect(desk.events.filter(({ type }) => type === "agent_end")).toHaveLength(1);
  expect(desk.events.at(-1)).toMatchObject({ type: "agent_end", terminationReason: "no_tool_calls" });
  expect(desk.model.left).toBe(0);
});

test("an overflow is compacted once and asked again; a second one is an error", async () => {
  const overflow = { failure: { kind: "context_overflow", message: "Too long." } } as const;
  const long = "Very long indeed. ".repeat(5_000);
  const first = await openDesk([overflow, [text("A summary.")], [text("Now it fits.")]]);
  expect(await first.session.prompt(long)).toMatchObject({ terminationReason: "no_tool_calls" });
  const second = await openDesk([overflow, [text("A summary.")], overflow]);
  expect(await second.session.prompt(long)).toMatchObject({
    terminationReason: "error",
    failure: { kind: "context_overflow" },
  });
  expect(second.model.asked).toHaveLength(3);
});

test("model and thinking level are in the log, and count from the next request on", async () => {
  const one = await openDesk([[text("one")]]);
  const other = await openDesk([[text("two")]], { scripted: { model: { id: "other", reasoning: true } } });
  await one.session.prompt("First.");
  await one.session.setModel(other.model);
  await one.session.setThinkingLevel("high");
  await one.session.prompt("Second.");
  expect(other.model.asked[0]?.options.reasoning).toBe("high");
  const context = await one.session.sessionManager.buildContext();
  expect(context).toMatchObject({ model: { modelId: "other" }, thinkingLevel: "high" });
  await expect(one.session.setModel("no-such-model-anywhere")).rejects.toMatchObject({ code: "unknown_model" });
});

test("a change of the model is told once, although model and level are two entries", async () => {
  const { session, events, model } = await openDesk([[text("one")], [text("two")]]);
  const other = { ...model, id: "other", reasoning: true };
  const told = () => events.flatMap((event) => (event.type === "model_changed" ? event.modelId : []));
  await session.setModel(other);
  await session.setThinkingLevel("off");
  await session.prompt("First.");
  expect(told()).toEqual(["other"]);
  await session.setModel(model);
  await session.setModel(other);
  expect(told()).toEqual(["other", model.id, "other"]);
});

test("a thinking level survives a model that cannot think, also after a restart", async () => {
  const plain = await openDesk([[text("plain")]]);
  const thinking = await openDesk([[text("one")], [text("two")]], {
    scripted: { model: { id: "thinking", reasoning: true } },
    thinkingLevel: "high",
  });
  const { session, model } = thinking;
  await session.prompt("First.");
  await session.setModel(plain.model);
  expect(session.thinkingLevel).toBe("off");
  await session.prompt("Second.");
  expect(plain.model.asked[0]?.options.reasoning).toBeUndefined();
  await session.dispose();
  const sessionManager = await SessionManager.open(session.sessionFile!);
  const reopened = await createAgentSession({
    cwd: thinking.directory,
    model: plain.model,
    sessionManager,
    settingsManager: SettingsManager.inMemory({ defaultThinkingLevel: "low" }),
  });
  expect(reopened.thinkingLevel).toBe("off");
  await reopened.setModel(model);
  expect(reopened.thinkingLevel).toBe("high");
  await reopened.prompt("Third.");
  expect(model.asked[1]?.options.reasoning).toBe("high");
  await reopened.dispose();
});

test("a level of off is an entry in the log, and a log without a level leaves it to the settings", async () => {
  const scripted = { model: { reasoning: true } };
  const levels = async (sessionManager: SessionManager) =>
    (await sessionManager.getEntries()).flatMap((entry) =>
      entry.type === "thinking_level_change" ? [entry.thinkingLevel] : [],
    );
  const { session } = await openDesk([[text("one")], [text("two")]], { scripted, thinkingLevel: "off" });
  await session.prompt("First.");
  await session.setThinkingLevel("high");
  await session.setThinkingLevel("off");
  await session.prompt("Second.");
  expect(await levels(session.sessionManager)).toEqual(["off", "high", "off"]);
  const sessionManager = await SessionManager.inMemory();
  await sessionManager.appendMessage({ role: "user", content: "Before levels were kept.", timestamp: 1 });
  const model = scriptedModel([], scripted);
  const settingsManager = SettingsManager.inMemory({ defaultThinkingLevel: "low" });
  const opened = await createAgentSession({ model, sessionManager, settingsManager });
  expect(opened.thinkingLevel).toBe("low");
  await opened.dispose();
  model.dispose();
});

test("a model that has a thinking level of its own begins new sessions with it, unless another one is asked for", async () => {
  const model = scriptedModel([], { model: { reasoning: true } });
  const modelThinkingLevels = { [`${model.provider}/${model.id}`]: "high", "other/model": "minimal" } as const;
  const settingsManager = SettingsManager.inMemory({ defaultThinkingLevel: "low", modelThinkingLevels });
  const start = async (more: { thinkingLevel?: "off"; sessionManager?: SessionManager }) => {
    const session = await createAgentSession({
      model,
      settingsManager,
      sessionManager: await SessionManager.inMemory(),
      ...more,
    });
    const { thinkingLevel } = session;
    await session.dispose();
    return thinkingLevel;
  };
  const before = await SessionManager.inMemory();
  await before.appendThinkingLevelChange("medium");
  expect(await start({})).toBe("high");
  expect(await start({ thinkingLevel: "off" })).toBe("off");
  expect(await start({ sessionManager: before })).toBe("medium");
  model.dispose();
});

test("what changes the beginning of requests is named", async () => {
  const desk = await openDesk([[text("one")], [text("two")], [text("three")], [text("four")]]);
  const { session, events } = desk;
  const breaks = () => events.flatMap((event) => (event.type === "cache_break" ? [event.segment] : []));
  await session.prompt("First.");
  await session.prompt("Second.");
  expect(breaks()).toEqual([]);
  session.setTools(["read", "bash", sayTool("extra")]);
  await session.prompt("Third.");
  expect(breaks()).toHaveLength(1);
  expect(breaks()[0]).toMatch(/^tools\./);
  await writeFile(join(desk.directory, "AGENTS.md"), "Be brief.");
  await session.reload();
  await session.prompt("Fourth.");
  expect(breaks()[1]).toMatch(/^system\.context .*AGENTS\.md$/);
});

test("a restart sends the same beginning, byte for byte, and names what changed in between", async () => {
  const directory = await temporaryDirectory();
  const sessionManager = await SessionManager.create(directory, directory);
  const first = await openDesk([[text("one")]], { cwd: directory, sessionManager });
  await first.session.prompt("First.");
  await first.session.dispose();
  const file = sessionManager.getSessionFile()!;
  const model = { scripted: { model: {} }, cwd: directory };
  const second = await openDesk([[text("two")]], { ...model, sessionManager: await SessionManager.open(file) });
  await second.session.prompt("Second.");
  expect(getTypes(second.events)).not.toContain("cache_break");
  const sent = (desk: Desk) => {
    const { systemPrompt, tools, messages } = desk.model.asked[0]!.context;
    return { prefix: JSON.stringify({ systemPrompt, tools }), messages: messages.map((one) => JSON.stringify(one)) };
  };
  expect(sent(second).prefix).toBe(sent(first).prefix);
  expect(sent(second).messages[0]).toBe(sent(first).messages[0]);
  await second.session.dispose();
  await writeFile(join(directory, "AGENTS.md"), "Be brief.");
  const third = await openDesk([[text("three")]], { ...model, sessionManager: await SessionManager.open(file) });
  await third.session.prompt("Third.");
  const [broken] = third.events.filter((event) => event.type === "cache_break");
  expect(broken?.segment).toMatch(/^system\.context .*AGENTS\.md$/);
  expect(broken?.tokens).toBeGreaterThan(0);
});

test("reading outside asks; allowed once it is read, denied it is not, and both are written down", async () => {
  const outside = await temporaryDirectory();
  await writeFile(join(outside, "notes.txt"), "remember the milk");
  const work = await temporaryDirectory();
  const path = join(outside, "notes.txt");
  const desk = await openDesk([[call("read", { path })], [text("ok")], [call("read", { path })], [text("ok")]], {
    cwd: work,
    ask: "surface",
    decide: ({ target }) =>
      target.kind === "path" && target.path.startsWith(outside)
        ? { kind: "ask", rule: "test", reason: "It is outside." }
        : { kind: "allow", rule: "test" },
  });
  const { session, events } = desk;
  for (const decision of ["allow", "deny"] as const) {
    const asked = () => events.filter((event) => event.type === "approval_requested");
    const before = asked().length;
    const done = session.prompt("Read it.");
    await until(() => asked().length > before);
    expect(await session.approve(asked().at(-1)!.approval.id, { decision })).toBe(true);
    await done;
  }
  const [allowed, denied] = getResults(desk);
  expect(getTexts(allowed!.content)).toContain("remember the milk");
  expect(denied).toMatchObject({ isError: true });
  const written = (await session.sessionManager.getEntries()).filter(
    (entry) => entry.type === "custom" && entry.customType === "tau.decision",
  );
  expect(written).toHaveLength(2);
});

test("with nobody there to ask, a credential and a file outside are both denied, and the run goes on", async () => {
  const directory = await temporaryDirectory();
  await writeFile(join(directory, "auth.json"), "{}");
  await symlink("/etc/hostname", join(directory, "link"));
  const desk = await openDesk(
    [[call("read", { path: "/etc/hostname" })], [call("read", { path: "link" })], [text("ok")]],
    { cwd: directory },
  );
  await desk.session.prompt("Read them.");
  for (const { isError, content } of getResults(desk)) {
    expect(isError).toBe(true);
    expect(getTexts(content)).toContain("No person is there to ask");
  }
});

test("of two calls that run beside each other, one may read what it was allowed, and the other may not", async () => {
  const path = "/etc/hostname";
  const reached = new Set<string>();
  const reader = (name: string, more: Partial<DescribedTool> = {}): DescribedTool => ({
    name,
    label: name,
    description: "Reads a file.",
    parameters: { type: "object", properties: {} },
    readOnly: true,
    ...more,
    async execute(_id, _args, _signal, _onUpdate, context) {
      reached.add(name);
      // Both are at work, and neither has ended, when they open the file.
      await until(() => reached.size === 2);
      const { bytes } = await context!.files.readWhole(path, 1_000);
      return { content: [{ type: "text", text: bytes.toString() }] };
    },
  });
  const asking = reader("asking", { access: () => [{ capability: "read", target: { kind: "path", path } }] });
  const desk = await openDesk([[call("asking"), call("silent")], [text("ok")]], {
    customTools: [asking, reader("silent")],
    ask: async () => ({ decision: "allow" }),
  });
  await desk.session.prompt("Read it.");
  const [allowed, refused] = getResults(desk);
  expect(allowed).toMatchObject({ toolName: "asking", isError: false });
  expect(getTexts(allowed!.content)).toBe(await readFile(path, "utf8"));
  expect(refused).toMatchObject({ toolName: "silent", isError: true });
  expect(getTexts(refused!.content)).toMatch(/^Reading \/etc\/hostname is not allowed/);
});

test("the files that tools of any kind touched are in the summary, also of a built-in tool that was taken away", async () => {
  const sync: DescribedTool = { ...sayTool("sync"), touches: ({ to }) => ({ read: [], modified: [String(to)] }) };
  const desk = await openDesk(
    [
      [call("sync", { to: "copied.ts" }), call("ls"), call("read", { path: "a.ts" })],
      [text("Long. ".repeat(2_000))],
      [text("Summary.")],
    ],
    { customTools: [sync] },
  );
  await writeFile(join(desk.directory, "a.ts"), "1");
  await desk.session.prompt("Copy it.");
  await desk.session.setTools(["ls"]);
  const outcome = await desk.session.compact();
  expect(outcome).toMatchObject({
    kind: "compacted",
    compaction: { details: { readFiles: ["a.ts"], modifiedFiles: ["copied.ts"] } },
  });
});

test("a result that is too long is cut, and the whole is in a file that a tool can read", async () => {
  const long = Array.from({ length: 20_000 }, (_, at) => `line ${at} of a long result`).join("\n");
  const desk = await openDesk([[call("look")], [text("ok")]], { customTools: [sayTool("look", long)] });
  await desk.session.prompt("Look.");
  const [result] = getResults(desk);
  const shown = getTexts(result!.content);
  expect(shown.length).toBeLessThan(long.length / 2);
  expect(shown).toContain("line 0 of");
  expect(shown).toContain("line 19999 of");
  const path = /(\/\S+result-\S+\.txt)/.exec(shown)?.[1];
  expect(await readFile(path!, "utf8")).toBe(long);
  expect((await stat(path!)).mode & 0o777).toBe(0o600);
});

test.each(["__SILENT__", "HEARTBEAT_OK"])("an answer that is exactly %s is stored and marked", async (words) => {
  const { session, events } = await openDesk([[text(words)], [text(`Not ${words}`)]]);
  await session.prompt("Anything?");
  await session.prompt("And now?");
  const entries = await session.sessionManager.getEntries();
  const answers = entries.filter((entry) => entry.type === "message" && entry.message.role === "assistant");
  expect(answers.map((entry) => (entry as { silent?: boolean }).silent)).toEqual([true, undefined]);
  const ends = events.filter((event) => event.type === "message_end");
  expect(ends.map(({ silent }) => silent)).toEqual([true, undefined]);
});

test("stats add up what was said and spent, from the whole log", async () => {
  const turn = { content: [call("look")], usage: { input: 100, output: 10, cacheRead: 300 } };
  const { session } = await openDesk([turn, [text("ok")]], { customTools: [sayTool("look")] });
  const empty = await session.stats();
  expect(empty.messages).toEqual({ user: 0, assistant: 0, toolResults: 0, toolCalls: 0 });
  await session.prompt("Look.");
  const stats = await session.stats();
  expect(stats.messages).toEqual({ user: 1, assistant: 2, toolResults: 1, toolCalls: 1 });
  expect(stats.tokens).toMatchObject({ input: 100, cacheRead: 300 });
  expect(stats.cacheHitRate).toBeCloseTo(0.75);
  expect(stats.contextUse?.contextWindow).toBe(200_000);
});

test("a session that somebody else writes can be looked at, and says who holds it when it is prompted", async () => {
  const directory = await temporaryDirectory();
  const holder = await SessionManager.create(directory, directory);
  await holder.appendMessage({ role: "user", content: "Mine.", timestamp: 1 });
  const sessionManager = await SessionManager.open(holder.getSessionFile()!);
  const { session } = await openDesk([[text("never")]], { sessionManager });
  expect(session.messages).toHaveLength(1);
  await expect(session.prompt("Hello.")).rejects.toMatchObject({ code: "read_only" });
  await expect(session.prompt("Hello.")).rejects.toThrow("another part of this program");
  await holder.close();
});

test("a listener that fails disturbs nobody", async () => {
  const { session } = await openDesk([[text("fine")]]);
  const warnings: string[] = [];
  const onWarning = (warning: Error) => warnings.push(warning.message);
  process.on("warning", onWarning);
  session.onEvent(() => {
    throw new Error("a clumsy listener");
  });
  expect(await session.prompt("Hi")).toMatchObject({ terminationReason: "no_tool_calls" });
  await until(() => warnings.length > 0);
  process.off("warning", onWarning);
  expect(warnings[0]).toContain("a clumsy listener");
});

test("a command of the person's own is run unjudged, and the model hears of it with the next prompt", async () => {
  const { session, model } = await openDesk([[text("I see.")]]);
  const shown: string[] = [];
  const ok = await session.executeBash("echo hello from me", { onOutput: (words) => shown.push(words) });
  expect(ok).toMatchObject({ output: "hello from me", exitCode: 0, cancelled: false, truncated: false });
  const failed = await session.executeBash("echo oops; exit 3", { excludeFromContext: true });
  expect(failed).toMatchObject({ exitCode: 3, cancelled: false });
  await session.prompt("What did I do?");
  const sent = JSON.stringify(model.asked[0]?.context.messages);
  expect(sent).toContain("hello from me");
  expect(sent).not.toContain("oops");
  expect(shown.join("")).toContain("hello from me");
});

test("the result of a person's own command has only its output, and what it left running is told in a notice", async () => {
  const { session } = await openDesk([]);
  expect(await session.executeBash("sleep 60 & echo hi")).toMatchObject({ output: "hi", exitCode: 0 });
  expect(await session.executeBash("sleep 60 &")).toMatchObject({ output: "", exitCode: 0 });
  expect(session.notices).toContainEqual({
    code: "processes_ended",
    message: "Processes that this command left running were ended: sleep 60 & echo hi",
  });
});

test("a command of the person's own can be aborted, and only one runs at a time", async () => {
  const { session } = await openDesk([]);
  const running = session.executeBash("sleep 60");
  await expect(session.executeBash("true")).rejects.toMatchObject({ code: "busy" });
  session.abortBash();
  expect(await running).toMatchObject({ cancelled: true });
});

test("what a session is told to do otherwise counts for it alone", async () => {
  const overloaded = { failure: { kind: "overloaded", message: "Busy." } } as const;
  const { session, events } = await openDesk([overloaded]);
  session.override({ autoRetry: false });
  expect(await session.prompt("Hi")).toMatchObject({ terminationReason: "error", detail: "overloaded" });
  expect(getTypes(events)).not.toContain("retry_scheduled");
  expect(session.settingsManager.get().retry.enabled).toBe(true);
});

test("a retry that somebody gives up waiting for ends the run with the failure", async () => {
  const overloaded = { failure: { kind: "overloaded", message: "Busy." } } as const;
  const { session, events } = await openDesk([overloaded], { settings: { retry: { baseDelayMs: 60_000 } } });
  const done = session.prompt("Hi");
  await until(() => events.some(({ type }) => type === "retry_scheduled"));
  session.abortRetry();
  expect(await done).toMatchObject({ terminationReason: "error", failure: { kind: "overloaded" } });
});

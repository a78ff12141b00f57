/** The feature `discovery` in real sessions. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call, createFakeClock, text } from "@tau/ai/testing";
import type { ExtensionAPI, ToolDefinition, ToolInfo } from "@tau/extensions";
import { SessionManager } from "@tau/harness";
import { expect, onTestFinished, test } from "vitest";
import { discovery } from "../src/index.ts";
import { createTestSession, type TestSession } from "./kit.ts";
import { server, serverTool, weather } from "./found-tools.ts";

type Params = NonNullable<Parameters<typeof createTestSession>[1]>;
type Turns = Parameters<typeof createTestSession>[0];

async function open(turns: Turns, params: Params = {}): Promise<TestSession> {
  const opened = await createTestSession(turns, { features: [discovery(), weather()], ...params });
  onTestFinished(() => opened.dispose());
  return opened;
}

const extension = (register: (tau: ExtensionAPI) => void) => ({ extensions: { factories: [register] } });
const search = (query: string, id = query) => call("tool_search", { query }, id);
const callTool = (name: string, args: unknown = {}, id = name) => call("call_tool", { name, arguments: args }, id);
const listNames = ({ session }: TestSession) => session.tools.map(({ name }) => name);
const isSearchable = (opened: TestSession) =>
  listNames(opened).filter((name) => /^(tool_search|call_tool)$/.test(name));
const listResults = ({ session }: Pick<TestSession, "session">) =>
  session.messages.flatMap((message) =>
    message.role === "toolResult" ? [{ name: message.toolName, isError: message.isError, text: getText(message) }] : [],
  );
const getText = ({ content }: { content: unknown }) =>
  (content as { text?: string }[]).map((each) => each.text).join("");

test("a tool is found, called by its name, and recorded, shown and reported as itself", async () => {
  const opened = await open([
    [search("weather of a city")],
    [callTool("weather_today", { city: "Ulm" }, "1")],
    [text("Rain.")],
  ]);
  await opened.prompt("go");
  const [found, called] = listResults(opened);
  expect(found!.text).toBe(
    '## weather_today\nTell the weather of a city.\nParameters: {"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}',
  );
  expect(called).toEqual({ name: "weather_today", isError: false, text: "Rain in Ulm." });
  const starts = opened.events.flatMap((event) =>
    event.type === "tool_execution_start" ? [[event.toolName, event.input]] : [],
  );
  expect(starts[1]).toEqual(["weather_today", { city: "Ulm" }]);
  const answers = opened.session.messages.filter((message) => message.role === "assistant");
  expect(answers[1]!.content).toMatchObject([{ name: "weather_today", arguments: { city: "Ulm" }, via: "call_tool" }]);
});

test("requests have the same tools before and after a search, and name what can be found", async () => {
  const seen = { loads: 0 };
  const docs = server((tau) => tau.registerTool(serverTool("read")), seen);
  const turns = [[text("Hi.")], [search("documents")], [callTool("mcp__docs__read", { page: "1" })], [text("Done.")]];
  const opened = await open(turns, { features: [discovery(), weather(), docs] });
  await opened.prompt("hi");
  expect(seen.loads).toBe(0);
  await opened.prompt("go");
  expect(seen.loads).toBe(1);
  expect(listResults(opened)[1]).toEqual({ name: "mcp__docs__read", isError: false, text: 'read {"page":"1"}' });
  const sent = opened.model.asked.map(({ context }) => JSON.stringify([context.systemPrompt, context.tools]));
  expect(new Set(sent).size).toBe(1);
  expect(sent[0]).toContain("Search for tools that are not in your list: the server docs, weather.");
});

test.each<[what: string, params: Params]>([
  ["a flag names", { tools: ["mcp__docs__*", "read"], allowedTools: ["mcp__docs__*", "read"] }],
  ["a setting names", { settings: { tools: { allowed: ["read", "mcp__docs__read"] } } }],
  ["nobody searches for", { settings: { tools: { discoveryMode: "off", allowed: ["read", "mcp__*"] } } }],
])("a tool of a server that %s is listed from the start", async (_what, params) => {
  const seen = { loads: 0 };
  const features = [discovery(), weather(), server((tau) => tau.registerTool(serverTool("read")), seen)];
  const opened = await open([[call("mcp__docs__read", { page: "1" })], [text("Done.")]], { features, ...params });
  expect(seen.loads).toBe(1);
  expect(listNames(opened).toSorted()).toEqual(["mcp__docs__read", "read"]);
  await opened.prompt("go");
  expect(listResults(opened)).toEqual([{ name: "mcp__docs__read", isError: false, text: 'read {"page":"1"}' }]);
});

test("a flag names a tool of an extension", async () => {
  const own = extension((tau) => tau.registerTool(serverTool("own", { name: "own" })));
  expect(listNames(await open([], { tools: ["read", "own"], allowedTools: ["read", "own"], ...own }))).toEqual([
    "read",
    "own",
  ]);
  await expect(open([], { tools: ["read", "other"], ...own })).rejects.toThrow(/There is no tool "other"/);
});

test("handlers of extensions get the call of the tool that was found, and may block it", async () => {
  const seen: unknown[] = [];
  const watch = extension((tau) => {
    tau.on("tool_call", ({ toolName, input }) => {
      seen.push(["call", toolName, { ...input }]);
      if (input["city"] === "Ulm") input["city"] = "Bonn";
      return input["city"] === "Rome" ? { block: true, reason: "Not Rome." } : undefined;
    });
    tau.on("tool_result", ({ toolName, input, content }) => {
      seen.push(["result", toolName, input]);
      return { content: [...content, { type: "text", text: " Really." }] };
    });
  });
  const turns = [
    [callTool("weather_today", { city: "Ulm" }, "1")],
    [callTool("weather_today", { city: "Rome" }, "2")],
    [text("Done.")],
  ];
  const opened = await open(turns, watch);
  await opened.prompt("go");
  expect(seen).toEqual([
    ["call", "weather_today", { city: "Ulm" }],
    ["result", "weather_today", { city: "Bonn" }],
    ["call", "weather_today", { city: "Rome" }],
  ]);
  expect(listResults(opened).map((result) => result.text)).toEqual(["Rain in Bonn. Really.", "Not Rome."]);
});

test.each<[what: string, args: unknown, problem: RegExp]>([
  ["arguments that do not fit", { name: "weather_today", arguments: { town: "Ulm" } }, /city/],
  ["a tool that is not there", { name: "nothing" }, /Tool nothing not found/],
  ["itself", { name: "call_tool", arguments: { name: "weather_today", arguments: { city: "Ulm" } } }, /cannot call/],
  ["no tool", {}, /name/],
  ["the name of a prototype", { name: "__proto__" }, /not found/],
])("a call with %s fails, and the model is told why", async (_what, args, problem) => {
  const opened = await open([[call("call_tool", args as Record<string, unknown>)], [text("Oh.")]]);
  await opened.prompt("go");
  const [result] = listResults(opened);
  expect(result).toMatchObject({ isError: true });
  expect(result!.text).toMatch(problem);
});

const pair = ["tool_search", "call_tool"];

test.each<[what: string, params: Params, names: string[]]>([
  ["with a tool to find", {}, pair],
  ["with none", { features: [discovery()] }, []],
  ["with a feature that finds some", { features: [discovery(), server(() => {})] }, pair],
  ["with an excluded tool", { settings: { tools: { excluded: ["weather_*"] } } }, []],
  ["with an excluded search", { settings: { tools: { excluded: ["tool_search"] } } }, []],
  ["with an excluded call", { excludedTools: ["call_tool"] }, []],
  ["with a tool that is named", { allowedTools: ["read", "weather_today", ...pair] }, []],
  ["with a list that allows all", { settings: { tools: { allowed: ["*"] } } }, pair],
  ["with a list that names one of two", { allowedTools: ["read", "tool_search", "*"] }, pair],
  ["without any tools", { tools: [], allowedTools: [] }, []],
  ["with other tools", { tools: ["read"] }, []],
  ["with default tools that leave one out", { settings: { defaultTools: ["-call_tool"] } }, []],
  ["with the mode off", { settings: { tools: { discoveryMode: "off" } } }, []],
  ["with the mode mcp-only", { settings: { tools: { discoveryMode: "mcp-only" } } }, []],
  ["with MCP's own mode", { settings: { mcp: { discoveryMode: true } } }, []],
  ["turned off", { settings: { features: { discovery: false } } }, []],
  [
    "with an extension's deferred tool",
    { features: [discovery()], ...extension((tau) => tau.registerTool(serverTool("read"))) },
    pair,
  ],
  [
    "with an extension's hidden tool",
    { features: [discovery()], ...extension((tau) => tau.registerTool(serverTool("read", { exposure: "hidden" }))) },
    [],
  ],
])("%s, requests list the search and the call or neither", async (_what, params, names) => {
  expect(isSearchable(await open([], params))).toEqual(names);
});

test.each<[what: string, params: Params, isListed: boolean]>([
  ["found by default", {}, false],
  ["listed if a flag names it", { allowedTools: ["read", "weather_today"] }, true],
  ["listed if a pattern names it", { settings: { tools: { allowed: ["read", "weather_*"] } } }, true],
  ["listed if the default tools name it", { settings: { defaultTools: ["+weather_today"] } }, true],
  ["listed if the session was given it", { tools: ["read", "weather_today"] }, true],
  ["listed with the mode off", { settings: { tools: { discoveryMode: "off" } } }, true],
  ["listed with the mode mcp-only", { settings: { tools: { discoveryMode: "mcp-only" } } }, true],
  ["found with the mode all", { settings: { tools: { discoveryMode: "all" } } }, false],
])("a tool that is not shown by default is %s", async (_what, params, isListed) => {
  expect(listNames(await open([], params)).includes("weather_today")).toBe(isListed);
});

async function createDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "tau-discovery-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  return directory;
}

test("a named agent's tools are listed, and it reaches no others", async () => {
  const agentDir = await createDirectory();
  await mkdir(join(agentDir, "agents", "clerk"), { recursive: true });
  await writeFile(join(agentDir, "agents", "clerk", "tools.yaml"), "tools: [read, weather_today, call_tool]\n");
  const docs = server((tau) => tau.registerTool(serverTool("read")));
  const features = [discovery(), weather(), docs];
  expect(listNames(await open([], { agentDir, agentName: "clerk", features }))).toEqual(["read", "weather_today"]);
});

const plain = (name: string, changes: Partial<ToolDefinition> = {}): ToolDefinition =>
  serverTool(name, { name, exposure: "direct", ...changes });

test.each<[mode: "auto" | "all" | "mcp-only" | "off", count: number, isListed: boolean]>([
  ["auto", 40, true],
  ["auto", 41, false],
  ["all", 1, false],
  ["mcp-only", 41, true],
  ["off", 41, true],
])("with the mode %s and %i tools of extensions, they are listed: %s", async (discoveryMode, count, isListed) => {
  const names = Array.from({ length: count }, (_, index) => `own_${index}`);
  const own = extension((tau) => names.forEach((name) => tau.registerTool(plain(name))));
  const turns = [[callTool("own_0", { page: "1" })], [text("Done.")]];
  const opened = await open(turns, { features: [discovery()], settings: { tools: { discoveryMode } }, ...own });
  const listOwn = () => listNames(opened).filter((name) => name.startsWith("own_"));
  expect(listOwn()).toEqual(isListed ? names : []);
  expect(isSearchable(opened)).toEqual(isListed ? [] : pair);
  if (isListed) return;
  await opened.prompt("go");
  expect(listResults(opened)).toEqual([{ name: "own_0", isError: false, text: 'own_0 {"page":"1"}' }]);
});

test("tools that are registered later do not change how the others are reached", async () => {
  let api: ExtensionAPI | undefined;
  const own = extension((tau) => {
    api = tau;
    for (let index = 0; index < 40; index++) tau.registerTool(plain(`own_${index}`));
  });
  const opened = await open([[text("Hi.")]], { features: [discovery()], ...own });
  await opened.prompt("hi");
  api!.registerTool(plain("own_40"));
  expect(listNames(opened).filter((name) => name.startsWith("own_")).length).toBe(41);
});

test("a person is asked about the tool that was found, and a rule for it applies", async () => {
  const asked: unknown[] = [];
  const write = serverTool("write", {
    access: () => [{ capability: "exec", target: { kind: "name", name: "write" } }],
  });
  const turns = [[callTool("mcp__docs__write", { page: "1" })], [text("Oh.")]];
  const opened = await open(turns, {
    ...extension((tau) => tau.registerTool(write)),
    decide: async ({ capability }) =>
      capability === "exec" ? { kind: "ask", rule: "test", reason: "Because." } : { kind: "allow", rule: "test" },
    async ask(question) {
      asked.push([question.toolName, question.summary]);
      return { decision: "deny", message: "not now" };
    },
  });
  await opened.prompt("go");
  expect(asked).toEqual([["mcp__docs__write", 'Call mcp__docs__write with {"page":"1"}']]);
  const denied = opened.events.flatMap((event) => (event.type === "tool_denied" ? [event.toolName] : []));
  expect(denied).toEqual(["mcp__docs__write"]);
  expect(listResults(opened)[0]).toMatchObject({ name: "mcp__docs__write", isError: true });
});

test("what an extension activates applies to what can be called", async () => {
  let api: ExtensionAPI | undefined;
  const own = extension((tau) => {
    api = tau;
    tau.registerTool(serverTool("read"));
    tau.registerTool(serverTool("secret", { exposure: "hidden" }));
    tau.registerTool(plain("own"));
  });
  const turns = [
    [callTool("mcp__docs__read")],
    [callTool("mcp__docs__secret")],
    [text("Hi.")],
    [callTool("mcp__docs__read"), callTool("own")],
    [text("Hi.")],
    [callTool("mcp__docs__read"), call("own", {}, "direct"), callTool("weather_today", { city: "Ulm" })],
    [text("Hi.")],
  ];
  const opened = await open(turns, own);
  const list = async () => (await api!.findTools()).map(({ name }) => name);
  await opened.prompt("one");
  expect(await list()).toEqual(["weather_today", "mcp__docs__read"]);
  // A tool that is not active is not reached in another way.
  api!.setActiveTools(api!.getActiveTools().filter((name) => name !== "own"));
  expect(isSearchable(opened)).toEqual(pair);
  await opened.prompt("two");
  api!.setActiveTools(["read", "mcp__docs__read", "mcp__docs__secret"]);
  expect(listNames(opened)).toEqual(["read", "mcp__docs__read"]);
  expect(await list()).toEqual([]);
  await opened.prompt("three");
  expect(listResults(opened).map(({ name, isError }) => [name, isError])).toEqual([
    ["mcp__docs__read", false],
    ["mcp__docs__secret", true],
    ["mcp__docs__read", false],
    ["own", true],
    ["call_tool", true],
    ["own", true],
    ["call_tool", true],
  ]);
});

test("tools call tools that are found, but not those for the model alone", async () => {
  const outcomes: unknown[] = [];
  const own = extension((tau) => {
    tau.registerTool(plain("for_the_model", { exposure: "model-only" }));
    tau.registerTool(
      plain("outer", {
        async execute(_id, _args, _signal, _onUpdate, context) {
          outcomes.push(context.tools.map(({ name }) => name).filter((name) => /weather|model/.test(name)));
          for (const [name, args] of [
            ["weather_today", { city: "Ulm" }],
            ["call_tool", { name: "weather_today", arguments: { city: "Bonn" } }],
            ["for_the_model", {}],
          ] as const) {
            const { isError, result } = await context.executeTool(name, args);
            outcomes.push([isError, getText(result).slice(0, 20)]);
          }
          return { content: [], details: {} };
        },
      }),
    );
  });
  const opened = await open([[call("outer", {})], [text("Done.")]], own);
  expect(listNames(opened)).toContain("for_the_model");
  await opened.prompt("go");
  expect(outcomes).toEqual([
    ["weather_today"],
    [false, "Rain in Ulm."],
    [false, "Rain in Bonn."],
    [true, "Tool for_the_model n"],
  ]);
});

test("the search has a second name, which no request lists", async () => {
  const opened = await open([[call("search_tool_bm25", { query: "weather" })], [text("Done.")]]);
  expect(listNames(opened)).not.toContain("search_tool_bm25");
  await opened.prompt("go");
  expect(listResults(opened)[0]).toMatchObject({ isError: false, text: expect.stringContaining("## weather_today") });
  const without = await open([[call("search_tool_bm25", { query: "weather" })], [text("Oh.")]], {
    features: [weather()],
  });
  await without.prompt("go");
  expect(listResults(without)[0]).toMatchObject({ isError: true });
});

test("a tool that was found can be called after a resume without another search", async () => {
  const directory = await createDirectory();
  const seen = { loads: 0 };
  const features = [discovery(), server((tau) => tau.registerTool(serverTool("read")), seen)];
  const sessionManager = await SessionManager.create(directory, directory);
  const first = await createTestSession([[search("documents")], [text("Found.")]], { features, sessionManager });
  await first.prompt("go");
  const path = sessionManager.getSessionFile()!;
  await first.dispose();
  const again = await open([[callTool("mcp__docs__read", { page: "1" })], [text("Done.")]], {
    features,
    sessionManager: SessionManager.open(path),
  });
  await again.prompt("on");
  expect(listResults(again).at(-1)).toEqual({ name: "mcp__docs__read", isError: false, text: 'read {"page":"1"}' });
});

test("after a compaction the model is told again what it had found, each time", async () => {
  const settings = { compaction: { keepRecentTokens: 100, reserveTokens: 100 } };
  const long = "word ".repeat(3_000);
  const turns = [
    [search("weather")],
    [text(long)],
    [text("The summary.")],
    [text(long)],
    [text("Another summary.")],
    [text("Well.")],
  ];
  const opened = await open(turns, { settings });
  await opened.prompt("go");
  for (const round of [1, 2]) {
    expect((await opened.session.compact()).kind).toBe("compacted");
    await opened.prompt(`on ${round}`);
    const sent = JSON.stringify(opened.model.asked.at(-1)!.context.messages);
    expect(sent).toContain("Tools that you found before the summary; call_tool calls them:\\n\\n## weather_today");
  }
});

test("a search waits five seconds for what has to be found, and what comes later is there for the next one", async () => {
  const clock = createFakeClock();
  let arrive = () => {};
  let begin = () => {};
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  const docs = server(async (tau) => {
    begin();
    await arrived;
    tau.registerTool(serverTool("read"));
  });
  const turns = [[search("documents", "1")], [text("Later.")], [search("documents", "2")], [text("Done.")]];
  const opened = await open(turns, { features: [discovery(), weather(), docs], clock });
  const running = opened.prompt("go");
  await begun;
  await clock.advance(4_999);
  expect(listResults(opened)).toEqual([]);
  await clock.advance(1);
  await running;
  expect(listResults(opened)[0]!.text).toBe('None of 1 tools matches "documents". Try other words.');
  arrive();
  await opened.prompt("again");
  expect(listResults(opened)[1]!.text).toContain("## mcp__docs__read");
});

test("a feature that cannot be loaded is reported, and the search finds the rest", async () => {
  const broken = { ...server(() => {}), load: () => Promise.reject(new Error("It is broken.")) };
  const opened = await open([[search("weather")], [text("Done.")]], { features: [discovery(), weather(), broken] });
  await opened.prompt("go");
  expect(listResults(opened)[0]).toMatchObject({ isError: false, text: expect.stringContaining("## weather_today") });
  expect(opened.session.notices.map(({ message }) => message)).toContainEqual(expect.stringContaining("It is broken."));
});

test("thousands of tools are registered without building the request again for each", async () => {
  const count = 2_000;
  const docs = server((tau) => {
    for (let index = 0; index < count; index++) tau.registerTool(serverTool(`read_${index}`));
  });
  const opened = await open([[search("read 1234")], [text("Done.")]], { features: [discovery(), docs] });
  await opened.prompt("go");
  expect(listResults(opened)[0]!.text).toMatch(/^## mcp__docs__read_1234\n/);
  expect(opened.model.asked[1]!.context.tools).toHaveLength(opened.model.asked[0]!.context.tools!.length);
});

const cyclic: Record<string, unknown> = { type: "object" };
cyclic["properties"] = { self: cyclic };
const endless = (): unknown =>
  new Proxy(
    { type: "object" },
    {
      get: (target, key) => (key === "properties" ? { more: endless() } : target[key as "type"]),
      ownKeys: () => ["type", "properties"],
      getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
    },
  );

test("hostile descriptions and schemas are bounded, made visible or left out, and cost the others nothing", async () => {
  const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`field_${index}`, { type: "string" }]));
  const hostile: Record<string, Partial<ToolDefinition>> = {
    cyclic: { parameters: cyclic },
    endless: { parameters: endless() },
    escape: { description: "documents \u001b[2J\u202e hidden\u0000" },
    long: { description: `documents ${"x".repeat(1_000_000)}` },
    wide: { parameters: { type: "object", properties: wide, required: ["field_0"] } },
    proto: { parameters: JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}') },
  };
  const own = extension((tau) => {
    for (const [name, changes] of Object.entries(hostile)) tau.registerTool(serverTool(name, changes));
  });
  const opened = await open([[call("tool_search", { query: "documents", limit: 20 })], [text("Done.")]], own);
  await opened.prompt("go");
  const [result] = listResults(opened);
  expect(result!.isError).toBe(false);
  expect(result!.text.length).toBeLessThan(21_000);
  const names = [...result!.text.matchAll(/^## (.+)$/gm)].map(([, name]) => name!.replace("mcp__docs__", ""));
  expect(names.toSorted()).toEqual(["escape", "long", "proto", "wide"]);
  expect(result!.text).toContain("documents \\u{1b}[2J\\u{202e} hidden\\u{0}");
  expect(result!.text).toContain("Parameters (their schema is too long to show): { field_0: string, field_1?: string,");
  // oxlint-disable-next-line no-control-regex -- nothing of it is left
  expect(result!.text).not.toMatch(/[\u0000-\u0008\u001b\u202e]/);
});

test.each<[what: string, args: Record<string, unknown>, answer: RegExp]>([
  ["without words", { query: "" }, /None of 1 tools matches ""/],
  ["of punctuation", { query: "?!…" }, /None of 1 tools matches "\?!…"/],
  ["with escape codes", { query: "\u001b[31m" }, /matches "\\\\u\{1b\}\[31m"/],
  ["of a megabyte", { query: "weather ".repeat(125_000) }, /^## weather_today/],
  ["with a limit below one", { query: "weather", limit: -5 }, /^## weather_today/],
  ["that is no text", { query: 5 }, /query|^None/],
])("a query %s is answered", async (_what, args, answer) => {
  const opened = await open([[call("tool_search", args)], [text("Done.")]]);
  await opened.prompt("go");
  expect(listResults(opened)[0]!.text).toMatch(answer);
});

test("extensions list what can be found, with parameters as JSON", async () => {
  let api: ExtensionAPI | undefined;
  const own = extension((tau) => {
    api = tau;
    tau.registerTool(serverTool("read", { exposure: "codemode", namespace: { name: "docs" } }));
  });
  const opened = await open([[text("Hi.")]], own);
  await opened.prompt("hi");
  const tools: ToolInfo[] = await api!.findTools();
  expect(tools).toMatchObject([
    { name: "weather_today", label: "Weather", exposure: "deferred", sourceInfo: { source: "feature" } },
    { name: "mcp__docs__read", exposure: "codemode", namespace: { name: "docs" }, sourceInfo: { source: "inline" } },
  ]);
});

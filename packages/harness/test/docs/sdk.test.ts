/** docs/sdk.md is true: its examples are compiled and run here, and its tables have a row for each name in the code. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AI, type Model, complete, completeSimple, stream, streamSimple } from "@tau/ai";
import {
  AgentSession,
  type AgentSessionParams,
  createAgent,
  createAgentSession,
  type HarnessErrorCode,
  SessionManager,
} from "@tau/harness";
import { type RunEnd, type SessionEvent, toTermination, type View } from "@tau/protocol";
import { createHost } from "@tau/harness/host";
import {
  call,
  text,
  createTestSession,
  type TestSessionParams,
  type TestTurn,
  transcript,
  scriptedModel,
  type ScriptedModelOptions,
  type ScriptedTurn,
} from "@tau/harness/testing";
import type { ToolDescription } from "@tau/tools";
import { expect, onTestFinished, test } from "vitest";
import { ask } from "./answer-to.example.ts";
import { delegate } from "./budget.example.ts";
import { talkWhileBusy } from "./busy.example.ts";
import { tryTwoWays } from "./conversation.example.ts";
import { promptWithLog } from "./debug.example.ts";
import { createRefundTool } from "./defined-tool.example.ts";
import { createCountLines } from "./described-tool.example.ts";
import { formatEnd } from "./end.example.ts";
import { createStore, startOrder, takeAnswer } from "./later-answer.example.ts";
import { createSupport } from "./guards.example.ts";
import { askTwice, createClient } from "./host.example.ts";
import { readInvoice } from "./output.example.ts";
import { openWithParts } from "./parts.example.ts";
import { askWith, decide } from "./policy.example.ts";
import { createShopPolicy } from "./extended-policy.example.ts";
import { createStreamFn, houseModel } from "./provider.example.ts";
import { continueById, continueLast } from "./resume.example.ts";
import { answer } from "./session.example.ts";
import { openAgent, storage } from "./storage.example.ts";
import { createAnswerServer, printAnswer } from "./streaming.example.ts";
import { countFiles } from "./three-lines.example.ts";
import { openWithTools } from "./tools.example.ts";
import { follow } from "./view.example.ts";

const root = join(import.meta.dirname, "../../../..");
const page = readFileSync(join(root, "docs/sdk.md"), "utf8");

test("every TypeScript block of the page is one of the examples here, and each of them is on the page once", () => {
  const blocks = [...page.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code);
  const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".example.ts"));
  const examples = files.map((name) => readFileSync(join(import.meta.dirname, name), "utf8"));
  expect(blocks.toSorted()).toEqual(examples.toSorted());
  expect(page).not.toMatch(/```(typescript|js|javascript)/);
});

/** The first cell of each row of the table under a heading. */
const rowsUnder = (heading: string): string[] => {
  const section = page.split(`\n## ${heading}\n`)[1]?.split(/\n## /)[0] ?? "";
  return [...section.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name!);
};

const parameters: Record<keyof AgentSessionParams, true> = {
  sessions: true,
  storage: true,
  session: true,
  waitsForBusyProvider: true,
  fileAuthority: true,
  wrapFiles: true,
  commandTerminal: true,
  use: true,
  isolation: true,
  env: true,
  cwd: true,
  projectDirectory: true,
  permissionsDirectory: true,
  readablePaths: true,
  agentDir: true,
  agentName: true,
  authStorage: true,
  modelRegistry: true,
  roles: true,
  model: true,
  provider: true,
  thinkingLevel: true,
  tools: true,
  customTools: true,
  sessionManager: true,
  settingsManager: true,
  resourceLoader: true,
  resources: true,
  afterCrash: true,
  admitRun: true,
  parentSessionId: true,
  sessionId: true,
  abortSignal: true,
  onEvent: true,
  sandbox: true,
  binding: true,
  allowedTools: true,
  defaultTools: true,
  excludedTools: true,
  toolExecution: true,
  toolChoice: true,
  scopes: true,
  additionalDirectories: true,
  ask: true,
  decide: true,
  policyProfile: true,
  permissionMode: true,
  planMode: true,
  audit: true,
  budgets: true,
  systemPrompt: true,
  appendSystemPrompt: true,
  documents: true,
  projectTrusted: true,
  watch: true,
  streamFn: true,
  models: true,
  debugLog: true,
  clock: true,
  ids: true,
  reloadGateway: true,
  extensions: true,
  features: true,
};

test("the table of parameters has a row for each, and no other", () => {
  expect(rowsUnder("Parameters").toSorted()).toEqual(Object.keys(parameters).toSorted());
});

const codes: Record<HarnessErrorCode, true> = {
  session_not_found: true,
  read_only: true,
  overtaken: true,
  write_failed: true,
  unknown_entry: true,
  unknown_model: true,
  no_model: true,
  busy: true,
  closed: true,
  run_failed: true,
  script_missed: true,
  unknown_command: true,
  invalid_parameters: true,
  login_failed: true,
  install_failed: true,
  unavailable: true,
  invalid_input: true,
  denied: true,
  aborted: true,
};

test("the table of errors has a row for each code, and no other", () => {
  expect(rowsUnder("Errors").toSorted()).toEqual(Object.keys(codes).toSorted());
});

test("every method of a session that the page names is there, and the page names every one that programs call", () => {
  const { prototype } = AgentSession;
  const members = [prototype, Object.getPrototypeOf(prototype)].flatMap(Object.getOwnPropertyNames);
  const named = new Set([...page.matchAll(/`session\.(\w+)/g)].map(([, name]) => name));
  expect([...named].filter((name) => !members.includes(name!))).toEqual([]);
  const internal = [
    "constructor",
    "open",
    "session",
    "budget",
    "isExtensionCommand",
    "describeExtensionCommands",
    "onFirstExtension",
    "knownTools",
    "setExtensionHost",
    "judgeParts",
    "approvalWaitMs",
    "internalTools",
    "askForChild",
    "listChangedFiles",
    "getAgents",
    "transcript",
  ];
  const unnamed = members.filter((name) => !internal.includes(name) && !new RegExp(`\\b${name}\\b`).test(page));
  expect(unnamed).toEqual([]);
});

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "tau-docs-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A scripted model, a working directory, and an agent directory that is not the user's. */
function scripted(turns: readonly ScriptedTurn[], options: ScriptedModelOptions = {}) {
  const model = scriptedModel(turns, options);
  const before = process.env["TAU_DIR"];
  process.env["TAU_DIR"] = temporaryDirectory();
  onTestFinished(() => {
    if (before === undefined) delete process.env["TAU_DIR"];
    else process.env["TAU_DIR"] = before;
    model.dispose();
  });
  return { model, cwd: temporaryDirectory() };
}

async function tested(turns: readonly TestTurn[], params: TestSessionParams = {}) {
  const agent = await createTestSession(turns, params);
  onTestFinished(() => agent.dispose());
  return agent;
}

const createFakeAI = (model: Model): AI => ({
  model,
  stream: (context, options) => stream(model, context, options),
  complete: (context, options) => complete(model, context, options),
  streamSimple: (context, options) => streamSimple(model, context, options),
  completeSimple: (context, options) => completeSimple(model, context, options),
});

test("an answer that comes later is given in another session, which makes the call", async () => {
  const directory = mkdtempSync(join(tmpdir(), "tau-later-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const store = createStore(directory);
  const log = join(directory, "log.jsonl");
  const refunds: number[] = [];
  const customTools = [createRefundTool(async (_id, amount) => `r${refunds.push(amount)}`)];
  const model = scriptedModel([[call("refund", { orderId: "7", amount: 200 })], [text("Done.")]]);
  onTestFinished(() => model.dispose());
  const params = { customTools, model, cwd: directory };
  const sessionManager = SessionManager.createFile(log, { cwd: directory });
  const first = await createAgentSession({ ...params, sessionManager, ask: { later: store } });
  const [question] = await startOrder(first, "Refund order 7.");
  await first.dispose();
  const answered = { questionId: question!.id, isAllowed: true };
  expect(await takeAnswer(log, { ...params, store }, answered)).toEqual([]);
  expect(refunds).toEqual([200]);
  expect(await takeAnswer(log, { ...params, store }, answered)).toEqual([]);
  expect(refunds).toEqual([200]);
});

test("an agent asks another one, and what a guard refuses goes neither in nor out", async () => {
  const model = scriptedModel([
    [call("orders", { prompt: "Where is order 7?" })],
    [call("find_order", { id: "7" })],
    [text("Order 7 is on its way.")],
    [text("It is on its way.")],
    [text("The card is 4111 1111 1111 1111.")],
  ]);
  onTestFinished(() => model.dispose());
  const support = createSupport(createFakeAI(model), async (id) => `${id}: sent`);
  onTestFinished(() => support.dispose());
  expect(await support.run("Where is order 7?")).toBe("It is on its way.");
  expect(model.asked.map(({ context }) => context.tools?.map(({ name }) => name))).toEqual([
    ["orders"],
    ["find_order"],
    ["find_order"],
    ["orders"],
  ]);
  await expect(support.run("My card is 4111 1111 1111 1111.")).rejects.toMatchObject({ code: "denied" });
  await expect(support.run("What was my card?")).rejects.toThrow("The answer was refused");
});

const ends: Record<RunEnd["kind"], RunEnd> = {
  done: { kind: "done" },
  length: { kind: "length" },
  budget: { kind: "budget", limit: "turns" },
  stopped: { kind: "stopped", by: "terminated" },
  asked: { kind: "asked", questions: [] },
  timeout: { kind: "timeout" },
  idle: { kind: "idle", failure: { kind: "idle_timeout", message: "Nothing came." } },
  aborted: { kind: "aborted", by: "person" },
  disconnected: { kind: "disconnected" },
  failed: { kind: "failed", cause: "model", failure: { kind: "auth", message: "No key." } },
};

test("the table of ends has a row for each, with its reason on the wire", () => {
  const section = page.split("\n## How a run ended\n")[1]!.split("\n## ")[0]!;
  const rows = [...section.matchAll(/^\| `(\w+)`.*\| `(\w+)` +\|[^|]*\|$/gm)].map(([, kind, reason]) => [kind, reason]);
  const expected = Object.values(ends).map((end) => [end.kind, toTermination(end).terminationReason]);
  expect(rows.toSorted()).toEqual(expected.toSorted());
});

const toolFields: Record<keyof ToolDescription, true> = {
  access: true,
  needsApproval: true,
  summarise: true,
  touches: true,
  shows: true,
  readOnly: true,
  parameterNeeds: true,
  promptSnippet: true,
  promptGuidelines: true,
};

test("the table of a tool's description has a row for each field, and no other", () => {
  const section = page.split("\n### Tools that describe themselves\n")[1]!.split(/\n##+ /)[0]!;
  const rows = [...section.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name!);
  expect(rows.toSorted()).toEqual(Object.keys(toolFields).toSorted());
});

test("the table of entry points has a row for each that the packages of a session export", () => {
  const names = ["sandbox", "policy", "config", "extensions", "harness"];
  const present = names.filter((name) => existsSync(join(root, "packages", name)));
  const expected = present.flatMap((name) => {
    const text = readFileSync(join(root, "packages", name, "package.json"), "utf8");
    const { exports } = JSON.parse(text) as { exports: Record<string, string | { types: string }> };
    // Former places are kept for one version, and internal entries are not for users.
    const isPublic = (entry: string | { types: string }) =>
      typeof entry !== "string" && !/\/(?:moved|internal)\//.test(entry.types);
    return Object.entries(exports).flatMap(([path, entry]) =>
      isPublic(entry) ? [`@tau/${name}${path.slice(1)}`] : [],
    );
  });
  const rows = [...page.matchAll(/^\| `(@tau\/(?:sandbox|policy|config|extensions|harness)[\w/]*)`/gm)].map(
    ([, path]) => path!,
  );
  expect(rows.toSorted()).toEqual(expected.toSorted());
});

test("three lines: it runs to the end and gives the answer", async () => {
  const { model, cwd } = scripted([[call("bash", { command: "ls | wc -l" })], [text("None.")]]);
  expect(await countFiles(cwd, createFakeAI(model))).toBe("None.");
  expect(model.left).toBe(0);
});

test("an answer of a given form: its value, or what is wrong with it", async () => {
  const { model, cwd } = scripted([[text('{"number":"7","total":12.5}')], [text("No.")], [text("No.")], [text("No.")]]);
  const agent = createAgent({ ai: createFakeAI(model), cwd });
  onTestFinished(() => agent.dispose());
  expect(await readInvoice(agent, "Dear Sir, …")).toEqual({ total: 12.5, cost: 0 });
  await expect(readInvoice(agent, "Dear Sir, …")).rejects.toMatchObject({
    code: "run_failed",
    message: "The answer does not fit its schema, also after corrections: The answer contains no JSON.",
  });
});

test("streaming: printed while it comes, and sent to a browser", async () => {
  const { model, cwd } = scripted([[text("Look: "), call("ls")], [text("none.")], [text("Still none.")]]);
  const agent = createAgent({ ai: createFakeAI(model), cwd });
  onTestFinished(() => agent.dispose());
  let printed = "";
  await printAnswer(agent, "Which files?", (piece) => (printed += piece));
  expect(printed).toBe("Look: [ls]none.");
  const server = createAnswerServer(agent);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}/?question=Sure%3F`);
  expect(await response.text()).toContain('"text":"Still none."');
});

test("a session: what it says and does is printed while it comes", async () => {
  const { model, cwd } = scripted([[text("Hm. "), call("ls")], [text("Done.")]]);
  let printed = "";
  expect(await answer("Look.", { model, cwd }, (piece) => (printed += piece))).toBe("done");
  expect(printed).toBe("Hm. [ls]Done.");
  model.add({ failure: { kind: "auth", message: "No key." } });
  expect(await answer("Look.", { model, cwd }, (piece) => (printed += piece))).toBe("failed");
  expect(printed).toContain("(auth: No key.)");
});

test("an end: every kind has a sentence", () => {
  const sentences = Object.values(ends).map(formatEnd);
  expect(new Set(sentences).size).toBe(sentences.length);
  expect(sentences).toContain("The run failed: No key.");
});

test("a view: drawn after every event, and it begins with what was said before", async () => {
  const { prompt, session } = await tested([[text("One.")], [text("Two.")]]);
  await prompt("A.");
  const drawn: View[] = [];
  const stop = await follow(session, (view) => drawn.push(view));
  await prompt("B.");
  const getRoles = (view: View | undefined) => {
    return view?.log.entries.flatMap((entry) => (entry.type === "message" ? entry.message.role : []));
  };
  expect(getRoles(drawn[0])).toEqual(["user", "assistant"]);
  expect(drawn.some(({ live }) => live.message?.text === "Two.")).toBe(true);
  expect(getRoles(drawn.at(-1))).toEqual(["user", "assistant", "user", "assistant"]);
  const count = drawn.length;
  stop();
  await session.setThinkingLevel("off");
  expect(drawn).toHaveLength(count);
});

test("while it is busy: what is said waits, can be changed, and is said", async () => {
  const { session, transcript: lines } = await tested([[text("A.")], [text("B.")], [text("C.")]]);
  expect(await talkWhileBusy(session)).toBe(1);
  expect(lines().filter((line) => line.startsWith("user: "))).toEqual([
    "user: Write the report.",
    "user: Keep it short.",
    "user: Then translate it.",
  ]);
});

test("each answer is that to its own message, also if it waited; a message that is taken back has none", async () => {
  const { session } = await tested([[text("A.")], [text("B.")], [text("C.")]]);
  session.onSessionEvent((event) => {
    const last = event.type === "queue_changed" ? event.followUps[1] : undefined;
    if (last) void session.removeQueued(last.id);
  });
  const answers = ["One?", "Two?", "Three?"].map((question) => ask(session, question));
  expect(await Promise.all(answers)).toEqual(["A.", "B.", undefined]);
  expect(await ask(session, "Four?")).toBe("C.");
});

test("a conversation: back with a summary, on with another level, shorter, and in two sessions", async () => {
  const long = text("A design in many words. ".repeat(2_000));
  const {
    session,
    model,
    transcript: lines,
  } = await tested(
    [
      [long],
      [text("Built.")],
      [text("A queue was tried.")],
      [text("Built again.")],
      [text("Decided.")],
      [text("Yes.")],
    ],
    { scripted: { model: { reasoning: true } } },
  );
  const branch = await tryTwoWays(session);
  onTestFinished(() => branch.dispose());
  expect(session.thinkingLevel).toBe("high");
  expect(lines()).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^branch summary: /),
      "model scripted/scripted (high)",
      expect.stringMatching(/^compacted: /),
      expect.stringMatching(/^branched at <entry \d+>$/),
    ]) as unknown,
  );
  expect(branch.sessionManager.parentId).toBe(session.sessionId);
  model.add([text("Go on.")]);
  await branch.prompt("Go on.");
  expect(transcript(branch).at(-1)).toMatch(/^assistant: /);
});

test("tools: by name, in both forms, and lent by a channel; scopes hide", async () => {
  const { model, cwd } = scripted([
    [call("weather", { place: "Rome" }), call("chat_reply", { text: "Warm." })],
    [text("ok")],
  ]);
  const session = await openWithTools(model, cwd);
  onTestFinished(() => session.dispose());
  const names = session.tools.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["read", "grep", "weather", "chat_reply", "session_branch"]));
  expect(names).not.toContain("bash");
  await session.prompt("Tell them.");
  expect(transcript(session)).toEqual([
    "user: Tell them.",
    'call weather {"place":"Rome"}',
    'call chat_reply {"text":"Warm."}',
    "result weather: 21 °C in Rome",
    "result chat_reply: Sent 5 characters.",
    "assistant: ok",
  ]);
});

test("a defined tool: a person allows what is not reversible, and a rule beside the policy forbids it at the weekend", async () => {
  const monday = new Date(2026, 10, 16);
  const sunday = new Date(2026, 10, 15);
  let today = monday;
  const asked: string[] = [];
  const refunds: string[] = [];
  const agent = await tested(
    [
      [call("refund", { orderId: "a", amount: 20 })],
      [call("refund", { orderId: "b", amount: 500 })],
      [text("ok")],
      [call("refund", { orderId: "c", amount: 20 })],
      [text("no")],
    ],
    {
      customTools: [
        createRefundTool(async (orderId, amount) => {
          refunds.push(`${orderId} ${amount}`);
          return `r-${orderId}`;
        }),
      ],
      decide: createShopPolicy(() => today),
      ask: askWith(async (question) => asked.push(question) > 0),
    },
  );
  await agent.prompt("Refund them.");
  today = sunday;
  await agent.prompt("Another.");
  expect(refunds).toEqual(["a 20", "b 500"]);
  expect(asked).toEqual([expect.stringContaining("The tool refund needs permission for this call.")]);
  expect(agent.transcript()).toContain('result refund: {"reference":"r-b"}');
  expect(agent.transcript().join("\n")).toContain("Refunds are made from Monday to Friday.");
});

test("a tool that describes itself: it reads with the permissions of its call, and asks with its own summary", async () => {
  const asked: string[] = [];
  const ask = askWith(async (question) => asked.push(question) === 0);
  const outside = "/etc/hostname";
  const turns: TestTurn[] = [
    [call("count_lines", { path: "list.txt" }), call("count_lines", { path: outside })],
    [text("ok")],
  ];
  const cwd = temporaryDirectory();
  const customTools = [createCountLines(cwd)];
  const agent = await tested(turns, { cwd, customTools, ask, files: { "list.txt": "milk\nbread\n" } });
  expect(agent.session.systemPrompt).toContain("- count_lines: count the lines of a file");
  expect(agent.session.systemPrompt).toContain("Use count_lines, not read");
  await agent.prompt("Count.");
  expect(agent.transcript()).toContain("result count_lines: 2 lines");
  expect(asked).toEqual([expect.stringContaining(`Count the lines of ${outside}\n`)]);
  expect(agent.events).toContainEqual(expect.objectContaining({ type: "tool_denied", toolName: "count_lines" }));
});

test("a host: a client that was away continues with what it missed, and a fork continues from an answer", async () => {
  const { model, cwd } = scripted([[text("Ada.")], [text("Bob.")], [text("Cyd.")], [text("Dan.")]]);
  const agentDir = temporaryDirectory();
  const options = { params: { model, cwd, agentDir }, agentDir };
  const drawn: View[] = [];
  expect(await askTwice(options, (view) => drawn.push(view))).toBe("Bob.");
  expect(drawn.map(({ log }) => log.entries.length > 0)).toEqual([true]);
  expect(JSON.stringify(model.asked.at(-1))).toContain("Ada.");

  const host = createHost(options);
  onTestFinished(() => host.dispose());
  const sessionId = await host.create();
  const client = createClient(host, sessionId);
  client.connect();
  await host.execute(sessionId, { type: "execute", prompt: "A name?" });
  client.disconnect();
  const before = client.getView();
  await host.execute(sessionId, { type: "execute", prompt: "Another?" });
  expect(client.getView()).toBe(before);
  client.connect();
  expect(client.getView()).toEqual(host.get(sessionId).view);
});

test("a policy: denied, asked about, remembered", async () => {
  const asked: string[] = [];
  const ask = askWith(async (question) => asked.push(question) > 0);
  const { prompt, transcript: lines } = await tested(
    [
      [call("read", { path: "a.txt" }), call("bash", { command: "rm a.txt" })],
      [call("read", { path: "a.txt" })],
      [text("ok")],
    ],
    { decide, ask, files: { "a.txt": "milk" } },
  );
  await prompt("Go.");
  expect(asked).toEqual([expect.stringMatching(/^Read a\.txt\nThe call would read .*a\.txt\.$/)]);
  expect(lines()).toEqual(
    expect.arrayContaining([
      "allowed by person",
      "result read: milk",
      expect.stringContaining("Nothing may be changed"),
    ]),
  );
});

test("a budget: a child ends when it is spent, and its parent is charged", async () => {
  const parent = await tested([]);
  const { model, cwd } = scripted(Array.from({ length: 30 }, () => [call("ls")]));
  expect(await delegate(parent.session, "Look for ever.", { model, cwd })).toEqual({ kind: "budget", limit: "turns" });
  expect(model.asked).toHaveLength(20);
  expect(parent.session.budget.spent.turns).toBe(20);
});

test("resuming: the last session of a directory, and one by its id", async () => {
  const { model, cwd } = scripted([[text("One.")], [text("Two.")], [text("Three.")]]);
  const printed: string[] = [];
  const first = await continueLast(cwd, { model }, (line) => printed.push(line));
  await first.prompt("A.");
  await first.dispose();
  const second = await continueLast(cwd, { model }, (line) => printed.push(line));
  expect(second.sessionId).toBe(first.sessionId);
  await second.prompt("B.");
  const third = await continueLast(cwd, { model }, (line) => printed.push(line));
  onTestFinished(() => third.dispose());
  expect(printed).toEqual([expect.stringContaining("Another process writes this session")]);
  await second.dispose();
  const fourth = await continueById(first.sessionId, { model, cwd });
  onTestFinished(() => fourth.dispose());
  await fourth.prompt("C.");
  expect(transcript(fourth)).toEqual([
    "user: A.",
    "assistant: One.",
    "user: B.",
    "assistant: Two.",
    "user: C.",
    "assistant: Three.",
  ]);
});

test("the last session is found in the directory that the sessions are created in", async () => {
  const [cwd, agentDir] = [temporaryDirectory(), temporaryDirectory()];
  const model = scriptedModel([[text("One.")]]);
  onTestFinished(() => model.dispose());
  const created = await createAgentSession({ cwd, agentDir, model });
  await created.prompt("A.");
  await created.dispose();
  const continued = await continueLast(cwd, { agentDir, model }, () => {});
  onTestFinished(() => continued.dispose());
  expect(continued.sessionId).toBe(created.sessionId);
});

test("an agent in a storage of one's own is continued by the next process, and its session branched there", async () => {
  const { model } = scripted([[text("One.")], [text("Two.")]]);
  const run = async (message: string) => {
    const agent = openAgent(createFakeAI(model), "ada");
    onTestFinished(() => agent.dispose());
    return { answer: await agent.run(message), session: await agent.session() };
  };
  const first = await run("A.");
  await first.session.dispose();
  const { answer, session } = await run("B.");
  expect(answer).toBe("Two.");
  expect(session.sessionFile).toBeUndefined();
  const branch = await session.branch(session.sessionManager.getLeafId()!);
  expect(transcript(branch)).toEqual(["user: A.", "assistant: One.", "user: B.", "assistant: Two."]);
  const keys = (await storage.list("session")).map(({ key }) => key);
  expect(keys).toEqual(["session/customer-ada", `session/${branch.sessionId}`]);
  await branch.dispose();
});

test("only one parameter says where the log is, and an id needs a storage", async () => {
  const sessionManager = SessionManager.inMemory("/work");
  await expect(createAgentSession({ storage, sessionManager })).rejects.toMatchObject({ code: "invalid_input" });
  await expect(createAgentSession({ session: "ada" })).rejects.toMatchObject({ code: "invalid_input" });
  await expect(createAgentSession({ storage, sessionId: "nobody" })).rejects.toMatchObject({
    code: "session_not_found",
  });
  await (await sessionManager).close();
});

test("parts of one's own: settings are written, the key stays a reference, the model is found", async () => {
  const [cwd, agentDir] = [temporaryDirectory(), temporaryDirectory()];
  await writeFile(join(agentDir, "settings.json"), '{ "retry": { "maxRetry": 1 } }');
  const { session, problems, close } = await openWithParts(cwd, agentDir);
  expect(problems).toEqual([expect.stringContaining("maxRetry")]);
  expect(session.model).toMatchObject({ provider: "anthropic", id: "claude-opus-4-5" });
  expect(session.settingsManager.get().retry.maxRetries).toBe(5);
  expect(session.thinkingLevel).toBe("low");
  expect(await readFile(join(agentDir, "auth.json"), "utf8")).toContain("$MY_ANTHROPIC_KEY");
  await close();
});

test("a debug log: what happened, one line each, without secrets", async () => {
  const { model, cwd } = scripted([[text("The token is fake-token-0123456789.")]]);
  const before = process.env["MY_TOKEN"];
  process.env["MY_TOKEN"] = "fake-token-0123456789";
  onTestFinished(() => {
    if (before === undefined) delete process.env["MY_TOKEN"];
    else process.env["MY_TOKEN"] = before;
  });
  const path = join(cwd, "debug.jsonl");
  await promptWithLog("Hello.", path, { model, cwd });
  const written = await readFile(path, "utf8");
  const events = written.trimEnd().split("\n");
  expect(events.some((line) => line.includes("agent_end" satisfies SessionEvent["type"]))).toBe(true);
  expect(written).not.toContain("fake-token-0123456789");
});

test("a provider of your own: its pieces are told as they arrive, and its failure is retried by its text", async () => {
  let requests = 0;
  const streamFn = createStreamFn(async function* () {
    if (++requests === 1) throw new Error("529 Overloaded");
    yield "Hel";
    yield "lo.";
  });
  const agent = await createTestSession([], { streamFn });
  onTestFinished(() => agent.dispose());
  await agent.session.setModel(houseModel);
  const deltas: string[] = [];
  agent.session.onEvent((event) => void (event.type === "text_delta" && deltas.push(event.delta)));
  const outcome = await agent.session.prompt("Hi");
  expect(outcome).toMatchObject({ end: { kind: "done" } });
  expect([requests, deltas]).toEqual([2, ["Hel", "lo."]]);
});

/** The testing kit: its lines, that they are the same in every run, and its errors. */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentMessage, AgentTool } from "@tau/agent";
import { emptyUsage, systemIds } from "@tau/ai";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import * as kit from "../src/testing/index.ts";
import {
  call,
  createSequentialIds,
  createTestSession,
  type TestSessionParams,
  type TestTurn,
  text,
  thinking,
  transcript,
} from "../src/testing/index.ts";
import { formatDifference } from "../src/testing/script.ts";

test("the testing kit exports these values and no others", () => {
  expect(Object.keys(kit).sort()).toEqual([
    "call",
    "createCrashFileSystem",
    "createFakeClock",
    "createSequentialIds",
    "createTestSession",
    "evaluate",
    "formatEvaluation",
    "openContractHost",
    "scriptedModel",
    "storageContract",
    "surfaceContract",
    "text",
    "thinking",
    "transcript",
  ]);
});

async function openSession(turns: readonly TestTurn[], params: TestSessionParams = {}) {
  const opened = await createTestSession(turns, params);
  // A test that expects an error of `dispose` calls it itself.
  onTestFinished(() => opened.dispose().catch(() => undefined));
  return opened;
}

const look: AgentTool = {
  name: "look",
  label: "Look",
  description: "Looks.",
  parameters: { type: "object", properties: {} },
  execute: async () => ({ content: [text("a wall")] }),
};

const busy: TestTurn = { failure: { kind: "overloaded", message: "Busy." }, content: [text("half a th")] };

test("a session becomes lines: messages, calls, results, retries and the end", async () => {
  const opened = await openSession(
    [
      [thinking("Hm."), text("Looking."), call("read", { path: "a.txt" }), call("read", { path: "b.txt" })],
      busy,
      { content: [text("And so o")], stopReason: "length" },
    ],
    { files: { "a.txt": "milk\nbread\n" } },
  );
  await opened.prompt("Look around.");
  expect(opened.transcript()).toEqual([
    "user: Look around.",
    "thinking: Hm.",
    "assistant: Looking.",
    'call read {"path":"a.txt"}',
    'call read {"path":"b.txt"}',
    "result read: milk\\nbread",
    expect.stringMatching(/^result read \(error\): .*<cwd>\/b\.txt/) as string,
    "assistant: half a th",
    "failed overloaded: Busy.",
    "retry 1 of 3 after 2000 ms: Busy.",
    "assistant: And so o",
    "cut: the answer reached its length limit",
    "end: no_tool_calls (length)",
  ]);
  expect(opened.model.left).toBe(0);
});

test("queued and cancelled messages, approvals, failures, navigation and compactions become lines too", async () => {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const slow: AgentTool = {
    ...look,
    execute: async () => {
      await released;
      return { content: [text("a door")] };
    },
  };
  const opened = await openSession(
    [
      [call("look")],
      [text("HEARTBEAT_OK")],
      [call("read", { path: "/etc/hostname" })],
      { failure: { kind: "auth", message: "No key." } },
      [text("A summary.")],
      [text("Of a long question.")],
      [text("Elsewhere.")],
    ],
    { customTools: [slow], ask: async () => ({ decision: "deny", message: "not now" }) },
  );
  const { session } = opened;
  const done = opened.prompt("Begin.");
  await opened.until("tool_execution_start");
  const followUp = await session.followUp("Never sent.");
  await session.steer("Faster.");
  if (followUp.kind === "queued") await session.removeQueued(followUp.id);
  release();
  await done;
  await opened.prompt("Read. ".repeat(4_000));
  await session.compact();
  await session.navigate(null);
  await session.sessionManager.appendSessionInfo("A name");
  await opened.prompt("Anew.");
  expect(opened.transcript()).toEqual([
    "user: Begin.",
    "call look {}",
    "queued to follow up: Never sent.",
    "queued to steer: Faster.",
    "cancelled: Never sent.",
    "result look: a door",
    "user: Faster.",
    "assistant (silent): HEARTBEAT_OK",
    "end: no_tool_calls",
    expect.stringMatching(/^user: (Read\. )+Re… \(23800 more\)$/) as string,
    'call read {"path":"/etc/hostname"}',
    expect.stringMatching(/^asked about read: /) as string,
    "denied by person",
    "result read (error): The user did not allow the call: not now",
    "failed auth: No key.",
    "end: error (auth)",
    expect.stringMatching(/^compacted: A summary\./) as string,
    "navigated to the start",
    "named: A name",
    "user: Anew.",
    "assistant: Elsewhere.",
    "end: no_tool_calls",
  ]);
});

test("the lines of a session or of messages are what the model is sent", async () => {
  const opened = await openSession([[call("look")], [text("Done.")]], { customTools: [look] });
  const { sessionId } = opened.session;
  await opened.prompt(`Where in ${opened.cwd} is ${sessionId}?`);
  const lines = ["user: Where in <cwd> is <session>?", "call look {}", "result look: a wall", "assistant: Done."];
  expect(transcript(opened.session)).toEqual(lines);
  expect(transcript(opened.session.messages, { cwd: opened.cwd, names: { [sessionId]: "<session>" } })).toEqual(lines);
  expect(transcript([])).toEqual([]);
  const others: AgentMessage[] = [
    { role: "custom", customType: "note", content: [text("hi")], display: true, timestamp: 1 },
    { role: "compactionSummary", summary: "All of it.", tokensBefore: 9, timestamp: 1 },
    {
      role: "bashExecution",
      command: "ls",
      output: "a",
      exitCode: 2,
      cancelled: false,
      truncated: false,
      timestamp: 1,
    },
    { role: "user", content: [{ type: "image", data: "AA==", mimeType: "image/png" }], timestamp: 1 },
    { role: "application's own", timestamp: 5, weight: 3 } as unknown as AgentMessage,
  ];
  expect(transcript(others)).toEqual([
    "custom note: hi",
    "summary: All of it.",
    "ran ls (exit 2): a",
    "user: [image image/png]",
    'application\'s own: {"weight":3}',
  ]);
});

const toLines = (words: string, options = {}) => transcript([{ role: "user", content: words, timestamp: 1 }], options);

test("a line stays one line, escapes hidden characters, and is cut with a count", () => {
  expect(toLines("a\nb\tc\u001b[31m\u202ed\\n\ud800 👩‍💻")).toEqual(["user: a\\nb\\tc\\x1b[31m\\u202ed\\\\n\\ud800 👩‍💻"]);
  expect(toLines("👋".repeat(210))).toEqual([`user: ${"👋".repeat(200)}… (10 more)`]);
  expect(toLines("12345", { maxCharacters: 3 })).toEqual(["user: 123… (2 more)"]);
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 300 }), (words) => {
      const [line = "", ...more] = toLines(words);
      expect(more).toEqual([]);
      expect(line).toMatch(/^[^\p{Cc}\p{Zl}\p{Zp}\p{Cs}]*$/u);
    }),
  );
});

test("different short texts are different lines", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 50 }), fc.string({ unit: "binary", maxLength: 50 }), (a, b) => {
      expect(toLines(a)[0] === toLines(b)[0]).toBe(a === b);
    }),
  );
});

test("paths that differ from run to run get names, only as whole paths, and their length does not matter", () => {
  const formatWith = (cwd: string) => toLines(`${cwd}/a, ${cwd}b, ${cwd}. ${cwd}.txt x${cwd} "${cwd}"`, { cwd });
  expect(formatWith("/w/x+y (1)")[0]).toBe('user: <cwd>/a, /w/x+y (1)b, <cwd>. /w/x+y (1).txt x/w/x+y (1) "<cwd>"');
  const long = (cwd: string) => toLines(`${cwd}/${"a".repeat(300)}`, { cwd });
  expect(long("/a")).toEqual(long(`/${"b".repeat(100)}`));
  const call: AgentMessage = {
    role: "assistant",
    api: "",
    provider: "",
    model: "",
    usage: emptyUsage(),
    stopReason: "toolUse",
    timestamp: 1,
    content: [{ type: "toolCall", id: "1", name: "read", arguments: { path: ["/w\\x/a", { in: "/w\\x" }] } }],
  };
  expect(transcript([call], { cwd: "/w\\x" })).toEqual(['call read {"path":["<cwd>/a",{"in":"<cwd>"}]}']);
  expect(toLines("/w/in/a /w/a", { cwd: "/w", names: { "/w/in": "<in>" } })).toEqual(["user: <in>/a <cwd>/a"]);
  const saved = join(tmpdir(), "tau-results-Ab12Cd", "result-77.txt");
  expect(toLines(`[${saved}] ${join(tmpdir(), "tau-4711-bash-0b.log")}`)).toEqual([
    "user: [<saved result>] <saved result>",
  ]);
  expect(toLines("at /opt/tool", { names: { "/opt/tool": "<tool>" } })).toEqual(["user: at <tool>"]);
});

const turns = fc.array(
  fc.oneof(
    fc.constant<TestTurn>([text("Hello."), call("look")]),
    fc.string().map((words): TestTurn => [text(words), call("pwd")]),
    fc.constant<TestTurn>([call("session_branch"), call("look"), call("missing", { a: [1] })]),
    fc.constant<TestTurn>(busy),
    fc.constant<TestTurn>({ content: [call("look")], stopReason: "length" }),
    fc.constant<TestTurn>([text("Done.")]),
  ),
  { maxLength: 8 },
);

test("the same script gives the same lines, in any directory and with any ids", async () => {
  const run = async (script: readonly TestTurn[], params: TestSessionParams) => {
    const pwd = {
      ...look,
      name: "pwd",
      execute: async () => ({ content: [text(`You are in ${opened.cwd}, not in ${opened.session.sessionId}.`)] }),
    };
    const opened = await createTestSession([...script, [text("The end.")]], {
      customTools: [look, pwd],
      binding: { channel: "chat", tools: [] },
      ...params,
    });
    await opened.prompt("Go.");
    const lines = opened.transcript();
    await opened.dispose();
    expect(lines.join("\n")).not.toContain(opened.cwd);
    expect(lines.join("\n")).not.toContain(opened.session.sessionId);
    return lines;
  };
  await fc.assert(
    fc.asyncProperty(turns, async (script) => {
      const lines = await run(script, {});
      expect(lines.at(-1)).toMatch(/^end: /);
      expect(await run(script, { ids: systemIds })).toEqual(lines);
    }),
    { numRuns: 25 },
  );
});

test("a turn with an expected request shows the difference to the actual one", async () => {
  const opened = await openSession(
    [
      { asked: ["user: Look."], answer: [call("look")] },
      { asked: ["call look {}", "result look: a floor"], answer: [text("never")] },
    ],
    { customTools: [look] },
  );
  const missed = opened.prompt("Look.");
  await expect(missed).rejects.toMatchObject({ code: "script_missed" });
  await expect(missed).rejects.toThrow(
    [
      "Turn 2 of the script was asked something else (- expected, + actual):",
      "  call look {}",
      "- result look: a floor",
      "+ result look: a wall",
    ].join("\n"),
  );
  await opened.dispose();
});

test("a turn may expect whole lines or patterns, and only the end of the conversation is compared", async () => {
  const opened = await openSession(
    [
      [call("read", { path: "a.txt" })],
      { asked: [/^call read/, "result read: milk"], answer: () => [text("Milk.")] },
      { asked: [], answer: [text("Anything.")] },
    ],
    { files: { "a.txt": "milk" } },
  );
  await opened.prompt("What?");
  await opened.prompt("And?");
  opened.model.add({ asked: [/in <cwd>$/], answer: [text("There.")] });
  await opened.prompt(`What is in ${opened.cwd}`);
  expect(opened.model.left).toBe(0);
  await opened.dispose();
});

test("a script that is too short shows the unexpected request once, in `prompt` or else in `dispose`", async () => {
  const reported = await openSession([[call("look")]], { customTools: [look] });
  await expect(reported.prompt("Look.")).rejects.toThrow(
    "The script has no turn 2, but the model was asked:\n  user: Look.\n  call look {}\n  result look: a wall",
  );
  await reported.dispose();
  const unreported = await openSession([]);
  await unreported.session.prompt("Hello?");
  await expect(unreported.dispose()).rejects.toThrow("The script has no turn 1");
  expect(existsSync(unreported.cwd)).toBe(false);
});

test("a difference has every line of both lists in order, and shared lines once", () => {
  expect(formatDifference(["a", "b", "c"], ["x", "a", "c", "d"])).toEqual(["  a", "- b", "  c", "+ d"]);
  expect(formatDifference(["a"], [])).toEqual(["- a"]);
  expect(formatDifference([/^a/], ["b", "abc"])).toEqual(["  abc"]);
  expect(formatDifference(["a"], ["x", "y"])).toEqual(["- a", "+ y"]);
  expect(formatDifference(["a", "b"], ["a", "x", "y"])).toEqual(["  a", "- b", "+ x", "+ y"]);
  const lists = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 8 });
  fc.assert(
    fc.property(lists, lists, (expected, actual) => {
      const lines = formatDifference(expected, actual);
      const without = (mark: string) => lines.filter((line) => !line.startsWith(mark)).map((line) => line.slice(2));
      expect(without("+")).toEqual(expected);
      const actualEnd = without("-");
      expect(actual.slice(actual.length - actualEnd.length)).toEqual(actualEnd);
    }),
  );
});

test("retries wait for the clock if their delays are not skipped", async () => {
  const opened = await openSession([busy, [text("Whole.")]], { skipRetryDelays: false });
  const done = opened.prompt("Hi");
  expect(await opened.until("retry_scheduled")).toMatchObject({ attempt: 1, delayMs: 2_000 });
  await opened.clock.advance(1_999);
  expect(opened.model.asked).toHaveLength(1);
  await opened.clock.advance(1);
  await done;
  expect(opened.model.asked).toHaveLength(2);
});

test("a hanging tool is abandoned when the run is aborted and the clock advances", async () => {
  const hung: AgentTool = { ...look, execute: () => new Promise<never>(() => {}) };
  const opened = await openSession([[call("look")]], { customTools: [hung] });
  const done = opened.prompt("Look.");
  await opened.until("tool_execution_start");
  const aborted = opened.session.abort();
  await opened.clock.advance(1_000);
  await Promise.all([aborted, done]);
  expect(opened.transcript().at(-1)).toBe("end: abort_signal (person)");
  expect(opened.transcript()).toContainEqual(expect.stringMatching(/^result look \(error\): /));
});

test("`until` returns each event once, early or late, and rejects when the session is disposed of", async () => {
  const opened = await openSession([[text("One.")], [text("Two.")]]);
  const first = opened.until("agent_end");
  await opened.prompt("A.");
  await opened.prompt("B.");
  const ends = opened.events.filter(({ type }) => type === "agent_end");
  expect([await first, await opened.until("agent_end")]).toEqual(ends);
  const third = opened.until("agent_end");
  await opened.dispose();
  await expect(third).rejects.toMatchObject({ code: "closed" });
});

test("files exist from the start, tools use them, and they are removed at the end", async () => {
  const opened = await openSession([[call("bash", { command: "cat in/a.txt > b.txt; echo done" })], [text("ok")]], {
    files: { "in/a.txt": "milk" },
    settings: { retry: { maxRetries: 0 } },
  });
  expect(await opened.prompt("Copy.")).toMatchObject({ kind: "ran", terminationReason: "no_tool_calls" });
  expect(await readFile(join(opened.cwd, "b.txt"), "utf8")).toBe("milk");
  expect(opened.transcript()).toContain("result bash: done");
  expect(opened.session.settingsManager.get().retry.maxRetries).toBe(0);
  expect(opened.session.sessionFile).toBeUndefined();
  await opened.dispose();
  expect(existsSync(opened.cwd)).toBe(false);
  await expect(createTestSession([], { files: { "../a.txt": "" } })).rejects.toMatchObject({ code: "invalid_input" });
});

function setEnv(name: string, value: string): void {
  const before = process.env[name];
  process.env[name] = value;
  onTestFinished(() => {
    if (before === undefined) delete process.env[name];
    else process.env[name] = before;
  });
}

test("settings, keys and skills of the machine are not read, and the agent directory has a name", async () => {
  const home = await mkdtemp(join(tmpdir(), "tau-home-"));
  onTestFinished(() => rm(home, { recursive: true, force: true, maxRetries: 10 }));
  const skill = join(home, ".agents", "skills", "whistle");
  await mkdir(skill, { recursive: true });
  await writeFile(join(skill, "SKILL.md"), "---\nname: whistle\ndescription: Whistles.\n---\nWhistle.");
  await writeFile(join(home, "settings.json"), '{ "retry": { "maxRetries": 9 } }');
  setEnv("HOME", home);
  setEnv("TAU_DIR", home);
  setEnv("ANTHROPIC_API_KEY", "fake-key-of-the-machine");
  const opened = await openSession([[text("There.")]]);
  await opened.prompt(`Look into ${join(opened.cwd, "../agent/settings.json")}`);
  expect(opened.transcript()[0]).toBe("user: Look into <agentDir>/settings.json");
  expect(opened.session.settingsManager.get().retry.maxRetries).toBeUndefined();
  expect(await opened.session.authStorage.has("anthropic")).toBe(false);
  expect(opened.session.notices).toEqual([]);
  expect(opened.session.resourceLoader.resources.skills).toEqual([]);
});

test("ids count up, look like UUIDs, and differ in their first eight digits", () => {
  const [nextId, nextOtherId] = [createSequentialIds(), createSequentialIds()];
  const ids = Array.from({ length: 300 }, () => nextId());
  expect(ids).toEqual(Array.from({ length: 300 }, () => nextOtherId()));
  expect(new Set(ids.map((id) => id.slice(0, 8))).size).toBe(300);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

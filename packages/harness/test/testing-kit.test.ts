/** The kit that others test their agents with: what it shows, that it shows the same each time, and what it refuses. */
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
import { difference } from "../src/testing/script.ts";

test("the testing kit exports these values and no others", () => {
  expect(Object.keys(kit).sort()).toEqual([
    "call",
    "createCrashFileSystem",
    "createFakeClock",
    "createSequentialIds",
    "createTestSession",
    "scriptedModel",
    "storeContract",
    "surfaceContract",
    "text",
    "thinking",
    "transcript",
  ]);
});

async function open(turns: readonly TestTurn[], params: TestSessionParams = {}) {
  const opened = await createTestSession(turns, params);
  // Whatever a test looks at has been looked at by then.
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

test("a session reads as lines: what was said, called, answered, tried again, and how it ended", async () => {
  const desk = await open(
    [
      [thinking("Hm."), text("Looking."), call("read", { path: "a.txt" }), call("read", { path: "b.txt" })],
      busy,
      { content: [text("And so o")], stopReason: "length" },
    ],
    { files: { "a.txt": "milk\nbread\n" } },
  );
  await desk.prompt("Look around.");
  expect(desk.transcript()).toEqual([
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
    "cut: the answer reached its longest length",
    "notice answer_cut: The answer reached its length limit.",
    "end: no_tool_calls (length)",
  ]);
  expect(desk.model.left).toBe(0);
});

test("what waits, is taken back, is asked, fails, is left and is compacted can be read too", async () => {
  let goOn = () => {};
  const told = new Promise<void>((resolve) => (goOn = resolve));
  const slow: AgentTool = {
    ...look,
    execute: async () => {
      await told;
      return { content: [text("a door")] };
    },
  };
  const desk = await open(
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
  const { session } = desk;
  const done = desk.prompt("Begin.");
  await desk.until("tool_execution_start");
  const never = await session.followUp("Never said.");
  await session.steer("Faster.");
  if (never.kind === "queued") await session.removeQueued(never.id);
  goOn();
  await done;
  await desk.prompt("Read. ".repeat(4_000));
  await session.compact();
  await session.navigate(null);
  await session.sessionManager.appendSessionInfo("A name");
  await desk.prompt("Anew.");
  expect(desk.transcript()).toEqual([
    "user: Begin.",
    "call look {}",
    "waits to follow up: Never said.",
    "waits to steer: Faster.",
    "cancelled: Never said.",
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
    "went to the start",
    "named: A name",
    "user: Anew.",
    "assistant: Elsewhere.",
    "end: no_tool_calls",
  ]);
});

test("a session and messages read as what the model is sent", async () => {
  const desk = await open([[call("look")], [text("Done.")]], { customTools: [look] });
  const { sessionId } = desk.session;
  await desk.prompt(`Where in ${desk.cwd} is ${sessionId}?`);
  const lines = ["user: Where in <cwd> is <session>?", "call look {}", "result look: a wall", "assistant: Done."];
  expect(transcript(desk.session)).toEqual(lines);
  expect(transcript(desk.session.messages, { cwd: desk.cwd, names: { [sessionId]: "<session>" } })).toEqual(lines);
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

test("a line stays one line, shows what is hidden, and is cut with a count", () => {
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

test("paths that differ from run to run have names, whole paths only, and how long they are does not matter", () => {
  const shown = (cwd: string) => toLines(`${cwd}/a, ${cwd}b, ${cwd}. ${cwd}.txt x${cwd} "${cwd}"`, { cwd });
  expect(shown("/w/x+y (1)")[0]).toBe('user: <cwd>/a, /w/x+y (1)b, <cwd>. /w/x+y (1).txt x/w/x+y (1) "<cwd>"');
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
  const kept = join(tmpdir(), "tau-results-Ab12Cd", "result-77.txt");
  expect(toLines(`[${kept}] ${join(tmpdir(), "tau-4711-bash-0b.log")}`)).toEqual([
    "user: [<kept result>] <kept result>",
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

test("the same script gives the same lines, wherever it runs and whatever ids it is given", async () => {
  const run = async (script: readonly TestTurn[], params: TestSessionParams) => {
    const pwd = {
      ...look,
      name: "pwd",
      execute: async () => ({ content: [text(`You are in ${desk.cwd}, not in ${desk.session.sessionId}.`)] }),
    };
    const desk = await createTestSession([...script, [text("The end.")]], { customTools: [look, pwd], ...params });
    await desk.prompt("Go.");
    const lines = desk.transcript();
    await desk.dispose();
    expect(lines.join("\n")).not.toContain(desk.cwd);
    expect(lines.join("\n")).not.toContain(desk.session.sessionId);
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

test("a turn that says what it answers to shows the difference when it is asked something else", async () => {
  const desk = await open(
    [
      { asked: ["user: Look."], answer: [call("look")] },
      { asked: ["call look {}", "result look: a floor"], answer: [text("never")] },
    ],
    { customTools: [look] },
  );
  const missed = desk.prompt("Look.");
  await expect(missed).rejects.toMatchObject({ code: "script_missed" });
  await expect(missed).rejects.toThrow(
    [
      "Turn 2 of the script was asked something else (- expected, + was):",
      "  call look {}",
      "- result look: a floor",
      "+ result look: a wall",
    ].join("\n"),
  );
  await desk.dispose();
});

test("a turn may expect whole lines or patterns, also of paths, and any earlier part is left to it", async () => {
  const desk = await open(
    [
      [call("read", { path: "a.txt" })],
      { asked: [/^call read/, "result read: milk"], answer: () => [text("Milk.")] },
      { asked: [], answer: [text("Anything.")] },
    ],
    { files: { "a.txt": "milk" } },
  );
  await desk.prompt("What?");
  await desk.prompt("And?");
  desk.model.add({ asked: [/in <cwd>$/], answer: [text("There.")] });
  await desk.prompt(`What is in ${desk.cwd}`);
  expect(desk.model.left).toBe(0);
  await desk.dispose();
});

test("a script that is too short says what was asked beyond it, once: to the prompt, or else when it is disposed of", async () => {
  const told = await open([[call("look")]], { customTools: [look] });
  await expect(told.prompt("Look.")).rejects.toThrow(
    "The script has no turn 2: the model was asked more often than it has answers. It was asked:\n" +
      "  user: Look.\n  call look {}\n  result look: a wall",
  );
  await told.dispose();
  const untold = await open([]);
  await untold.session.prompt("Hello?");
  await expect(untold.dispose()).rejects.toThrow("The script has no turn 1");
  expect(existsSync(untold.cwd)).toBe(false);
});

test("a difference keeps every line of both, in order, and what they share once", () => {
  expect(difference(["a", "b", "c"], ["x", "a", "c", "d"])).toEqual(["  a", "- b", "  c", "+ d"]);
  expect(difference(["a"], [])).toEqual(["- a"]);
  expect(difference([/^a/], ["b", "abc"])).toEqual(["  abc"]);
  expect(difference(["a"], ["x", "y"])).toEqual(["- a", "+ y"]);
  expect(difference(["a", "b"], ["a", "x", "y"])).toEqual(["  a", "- b", "+ x", "+ y"]);
  const lines = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 8 });
  fc.assert(
    fc.property(lines, lines, (expected, actual) => {
      const shown = difference(expected, actual);
      const without = (mark: string) => shown.filter((line) => !line.startsWith(mark)).map((line) => line.slice(2));
      expect(without("+")).toEqual(expected);
      const was = without("-");
      expect(actual.slice(actual.length - was.length)).toEqual(was);
    }),
  );
});

test("retries wait for the clock when they are asked to", async () => {
  const desk = await open([busy, [text("Whole.")]], { skipRetryDelays: false });
  const done = desk.prompt("Hi");
  expect(await desk.until("retry_scheduled")).toMatchObject({ attempt: 1, delayMs: 2_000 });
  await desk.clock.advance(1_999);
  expect(desk.model.asked).toHaveLength(1);
  await desk.clock.advance(1);
  await done;
  expect(desk.model.asked).toHaveLength(2);
});

test("a tool that hangs is left behind when the run is aborted and the clock goes on", async () => {
  const hung: AgentTool = { ...look, execute: () => new Promise<never>(() => {}) };
  const desk = await open([[call("look")]], { customTools: [hung] });
  const done = desk.prompt("Look.");
  await desk.until("tool_execution_start");
  const aborted = desk.session.abort();
  await desk.clock.advance(1_000);
  await Promise.all([aborted, done]);
  expect(desk.transcript().at(-1)).toBe("end: abort_signal (person)");
  expect(desk.transcript()).toContainEqual(expect.stringMatching(/^result look \(error\): /));
});

test("who waits for an event gets each one once, early or late, and is told when none will come", async () => {
  const desk = await open([[text("One.")], [text("Two.")]]);
  const first = desk.until("agent_end");
  await desk.prompt("A.");
  await desk.prompt("B.");
  const ends = desk.events.filter(({ type }) => type === "agent_end");
  expect([await first, await desk.until("agent_end")]).toEqual(ends);
  const third = desk.until("agent_end");
  await desk.dispose();
  await expect(third).rejects.toMatchObject({ code: "closed" });
});

test("files are there to begin with, tools work on them, and afterwards nothing is left", async () => {
  const desk = await open([[call("bash", { command: "cat in/a.txt > b.txt; echo done" })], [text("ok")]], {
    files: { "in/a.txt": "milk" },
    settings: { retry: { maxRetries: 0 } },
  });
  expect(await desk.prompt("Copy.")).toMatchObject({ kind: "ran", terminationReason: "no_tool_calls" });
  expect(await readFile(join(desk.cwd, "b.txt"), "utf8")).toBe("milk");
  expect(desk.transcript()).toContain("result bash: done");
  expect(desk.session.settingsManager.get().retry.maxRetries).toBe(0);
  expect(desk.session.sessionFile).toBeUndefined();
  await desk.dispose();
  expect(existsSync(desk.cwd)).toBe(false);
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

test("the machine's settings, keys and skills are not read, and where the session's own would be has a name", async () => {
  const home = await mkdtemp(join(tmpdir(), "tau-home-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const skill = join(home, ".agents", "skills", "whistle");
  await mkdir(skill, { recursive: true });
  await writeFile(join(skill, "SKILL.md"), "---\nname: whistle\ndescription: Whistles.\n---\nWhistle.");
  await writeFile(join(home, "settings.json"), '{ "retry": { "maxRetries": 9 } }');
  setEnv("HOME", home);
  setEnv("TAU_DIR", home);
  setEnv("ANTHROPIC_API_KEY", "fake-key-of-the-machine");
  const desk = await open([[text("There.")]]);
  await desk.prompt(`Look into ${join(desk.cwd, "../agent/settings.json")}`);
  expect(desk.transcript()[0]).toBe("user: Look into <agentDir>/settings.json");
  expect(desk.session.settingsManager.get().retry.maxRetries).toBe(3);
  expect(await desk.session.authStorage.has("anthropic")).toBe(false);
  expect(desk.session.notices).toEqual([]);
  expect(desk.session.resourceLoader.resources.skills).toEqual([]);
});

test("ids count, look like UUIDs, and differ in their first eight digits", () => {
  const [one, other] = [createSequentialIds(), createSequentialIds()];
  const ids = Array.from({ length: 300 }, () => one());
  expect(ids).toEqual(Array.from({ length: 300 }, () => other()));
  expect(new Set(ids.map((id) => id.slice(0, 8))).size).toBe(300);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

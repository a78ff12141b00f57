/** `tau fan`: tasks of a file, each in a child of one session. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { WireReply } from "@tau/ai/testing";
import { describe, expect, test } from "vitest";
import { parseFanTasks } from "../../src/commands/fan-tasks.ts";
import { exitCodes } from "../../src/process/exit-codes.ts";
import { createModelWorkspace, type ModelWorkspace, run, textReply, toolReply } from "../kit.ts";

const toLines = (tasks: readonly object[]) => tasks.map((task) => `${JSON.stringify(task)}\n`).join("");
const parseLines = (out: string) =>
  out
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as { taskId: string; success: boolean; result?: unknown; error?: string });

async function fan(replies: readonly WireReply[], tasks: readonly object[], flags: readonly string[] = []) {
  const workspace = await createModelWorkspace(replies);
  await writeFile(join(workspace.directory, "tasks.jsonl"), toLines(tasks));
  return { workspace, ...(await run(workspace, ["fan", "tasks.jsonl", "--parallelism", "1", ...flags])) };
}

const getSystemPrompts = ({ server }: ModelWorkspace) =>
  server.requests.map(({ body }) => String((body as { messages: { content: unknown }[] }).messages[0]!.content));

test("each task is a child, and each result is a line; what happens is on standard error", async () => {
  const tasks = [
    { id: "one", description: "first", prompt: "Do one.", agent: "explore" },
    { prompt: "Do two.", schema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] } },
  ];
  const { code, out, err, workspace } = await fan([textReply("One."), textReply('{ "n": 2 }')], tasks);
  expect(parseLines(out)).toMatchObject([
    { taskId: "one", success: true, result: "One." },
    { taskId: "2", success: true, result: { n: 2 } },
  ]);
  expect(code).toBe(exitCodes.done);
  expect(err).toMatch(/^one: works\none: done \(\d+ s, \d+ tokens\)\n2: works\n2: done /);
  const [first, second] = getSystemPrompts(workspace);
  expect(first).toMatch(/^You answer questions about the files/);
  expect(second).toMatch(/^You are tau/);
  const tools = (workspace.server.requests[0]!.body as { tools: { function: { name: string } }[] }).tools;
  expect(tools.map(({ function: { name } }) => name)).toEqual(["read", "grep", "find", "ls"]);
});

test.each([[["fan"]], [["fan", "-"]]])(
  "%j reads tasks of standard input, and the children are sessions of the directory",
  async (args) => {
    const workspace = await createModelWorkspace([textReply("Yes.")]);
    const input = toLines([{ id: "a", prompt: "Well?" }]);
    const { code, out } = await run(workspace, args, { input });
    expect([code, parseLines(out)[0]?.result]).toEqual([exitCodes.done, "Yes."]);
    const tree = JSON.parse((await run(workspace, ["sessions", "tree", "--json"])).out) as {
      name: string;
      children: { firstMessage: string }[];
    }[];
    expect(tree).toMatchObject([{ name: "fan -", children: [{ firstMessage: "Well?" }] }]);
  },
);

test("a task that fails gives the exit code 1, with its error in its line, and the others are done", async () => {
  const tasks = [{ prompt: "Bad.", agent: "nobody" }, { prompt: "Good." }];
  const { code, out, err } = await fan([textReply("Yes.")], tasks);
  expect(code).toBe(exitCodes.failed);
  expect(parseLines(out)).toMatchObject([
    { taskId: "1", success: false, error: expect.stringContaining('no agent "nobody"') as string },
    { taskId: "2", success: true },
  ]);
  expect(err).toContain('1: failed: There is no agent "nobody".');
});

test("--merge successful leaves failed tasks out, first gives one result, and --stop-on-error ends the others", async () => {
  const tasks = [{ prompt: "Bad.", agent: "nobody" }, { prompt: "Good." }, { prompt: "Late." }];
  const successful = await fan([textReply("A."), textReply("B.")], tasks, ["--merge", "successful"]);
  expect([successful.code, parseLines(successful.out).map(({ taskId }) => taskId)]).toEqual([1, ["2", "3"]]);
  const first = await fan([textReply("A.")], tasks, ["--merge", "first"]);
  expect([first.code, parseLines(first.out).map(({ taskId }) => taskId)]).toEqual([0, ["2"]]);
  expect(first.workspace.server.requests.length).toBe(1);
  const stopped = await fan([], tasks, ["--stop-on-error"]);
  expect([stopped.code, stopped.workspace.server.requests.length]).toEqual([1, 0]);
  expect(stopped.err).toContain("tau: Task 0 failed: ");
});

test("Ctrl-C ends all tasks, and prints those that had ended", async () => {
  const controller = new AbortController();
  const workspace = await createModelWorkspace([textReply("Yes."), { kind: "raw", chunks: [], ending: "hang" }]);
  const input = toLines([{ prompt: "Quick." }, { prompt: "Slow." }, { prompt: "Never." }]);
  const { code, out } = await run(workspace, ["fan", "-", "--parallelism", "1"], {
    input,
    signal: controller.signal,
    onErr: (err) => err.includes("2: works") && controller.abort("SIGINT"),
  });
  expect(code).toBe(exitCodes.interrupted);
  expect(parseLines(out)).toMatchObject([
    { taskId: "1", success: true },
    { taskId: "2", success: false },
    { taskId: "3", success: false },
  ]);
});

test("on a terminal there is a table that is drawn again, and the results come below it", async () => {
  const workspace = await createModelWorkspace([textReply("Yes.")]);
  const { out, err } = await run(workspace, ["fan", "-"], {
    input: toLines([{ id: "a", description: "look\u001b[2J", prompt: "Well?" }]),
    terminal: { err: true, out: true },
  });
  expect(err).toContain("0 of 1 tasks have ended\n  a  works  look");
  expect(err).toContain("\u001b[2A\u001b[G\u001b[J1 of 1 tasks have ended\n  a  done (");
  expect(err).not.toContain("\u001b[2J");
  expect(parseLines(out)).toMatchObject([{ taskId: "a" }]);
});

describe("a file of tasks", () => {
  const invalid: readonly [string, RegExp][] = [
    ["", /^There are no tasks\.$/],
    ["\n\nno", /^Line 3: This is not a JSON object/],
    ['{"prompt":"a"}\n{"promt":"b"}', /^Line 2: There is no field "promt"\. Did you mean "prompt"\?$/],
    ['{"id":"a"}', /^Line 1: `description` has to be/],
    ['{"prompt":7,"description":"x"}', /^Line 1: `prompt` has to be/],
    ['{"prompt":"a","tools":"read"}', /`tools`/],
    ['{"prompt":"a","timeout":0}', /`timeout`/],
    ['{"prompt":"a","schema":"x"}', /`schema`/],
    ['{"prompt":"a","agent":""}', /`agent`/],
    ['{"id":"x","prompt":"a"}\n{"id":"x","prompt":"b"}', /^Line 2: There is another task with the id "x"/],
  ];
  test.each(invalid)("%j is refused with its line", (text, message) => {
    expect(parseFanTasks(text)).toEqual({ kind: "invalid", message: expect.stringMatching(message) });
  });

  test("that cannot be used is an error of usage, and no session is made", async () => {
    const workspace = await createModelWorkspace([]);
    const { code, err } = await run(workspace, ["fan", "nowhere.jsonl"]);
    expect([code, err]).toEqual([exitCodes.usage, expect.stringContaining("cannot be read")]);
    await writeFile(join(workspace.directory, "bad.jsonl"), "{}");
    const bad = await run(workspace, ["fan", "bad.jsonl"]);
    expect([bad.code, bad.err]).toEqual([exitCodes.usage, expect.stringContaining("bad.jsonl: Line 1: ")]);
    expect((await run(workspace, ["fan", "bad.jsonl", "--parallelism", "x"])).code).toBe(exitCodes.usage);
    expect((await run(workspace, ["fan"])).err).toContain("Name a file of tasks");
  });
});

test("what a task writes is in the directory", async () => {
  const replies = [toolReply("write", { path: "a.txt", content: "a" }), textReply("Written.")];
  const { workspace } = await fan(replies, [{ prompt: "Write." }]);
  expect(await readFile(join(workspace.directory, "a.txt"), "utf8")).toBe("a");
});

test("tau sessions tree shows the tasks below their session, with what each has cost", async () => {
  const workspace = await createModelWorkspace([textReply("Yes."), textReply("No.")]);
  const models = JSON.parse(await readFile(join(workspace.agentDir, "models.json"), "utf8")) as {
    providers: { acme: { models: { cost?: object }[] } };
  };
  for (const model of models.providers.acme.models) {
    model.cost = { input: 10_000, output: 10_000, cacheRead: 0, cacheWrite: 0 };
  }
  await writeFile(join(workspace.agentDir, "models.json"), JSON.stringify(models));
  await run(workspace, ["fan", "-", "--parallelism", "1"], { input: toLines([{ prompt: "A?" }, { prompt: "B?" }]) });
  const [root, ...children] = (await run(workspace, ["sessions", "tree"])).out.trimEnd().split("\n");
  const getCost = (line = "") => Number(/\(\$([\d.]+)\)$/.exec(line)?.[1]);
  expect(children.map((line) => line.replace(/ \(.*/, ""))).toEqual([
    expect.stringMatching(/^├─ \w+: A\?$/),
    expect.stringMatching(/^└─ \w+: B\?$/),
  ]);
  expect(root).toContain(": fan - ($");
  expect(getCost(children[0])).toBeGreaterThan(0);
  expect(getCost(root)).toBeCloseTo(
    children.reduce((sum, line) => sum + getCost(line), 0),
    1,
  );
});

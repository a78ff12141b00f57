/** Tasks side by side: with executors that misbehave, and with real children. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { call, text } from "@tau/ai/testing";
import { createFakeClock } from "@tau/harness/testing";
import type { ExtensionAPI } from "@tau/extensions";
import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { type Executor, type FanoutTask, type Subagent, TaskFanout } from "../src/agents/index.ts";
import { allFeatures } from "../src/index.ts";
import { countLines } from "./fanout.example.ts";
import { createTestSession, type TestSessionParams } from "./kit.ts";
import { createRepository, type TestRepository } from "./worktrees/kit.ts";

const task = (id: string, more: Partial<FanoutTask<string>> = {}): FanoutTask<string> => ({
  id,
  description: id,
  prompt: id,
  ...more,
});
const noAgent = undefined as never;

/** Counts the subagents that are open. */
function createExecutor(run: (prompt: string) => ReturnType<Subagent["run"]>) {
  const counts = { open: 0, most: 0, created: 0 };
  const executor: Executor = {
    createSubagent: () => {
      counts.most = Math.max(counts.most, ++counts.open);
      counts.created++;
      return { run, lastUsage: { total_tokens: 3 }, close: () => void counts.open-- };
    },
  };
  return { executor, counts };
}

async function* answer(prompt: string) {
  if (prompt.startsWith("hang")) await new Promise(() => {});
  if (prompt.startsWith("throw")) throw new Error("boom");
  yield "a";
  yield prompt;
}

test("results are in the order of the tasks, and at most four run at once", async () => {
  const { executor, counts } = createExecutor(async function* (prompt) {
    for (let turn = 0; turn < 10 - Number(prompt); turn++) await Promise.resolve();
    yield prompt;
  });
  const tasks = Array.from({ length: 10 }, (_, index) => task(String(index)));
  const results = await new TaskFanout(noAgent, executor).fanout(tasks);
  expect(results.map(({ result }) => result)).toEqual(tasks.map(({ id }) => id));
  expect(results[0]).toMatchObject({ taskId: "0", success: true, tokensUsed: 3 });
  expect(counts).toEqual({ open: 0, most: 4, created: 10 });
});

test("200 tasks at parallelism 50", async () => {
  const { executor, counts } = createExecutor(answer);
  const tasks = Array.from({ length: 200 }, (_, index) => task(index % 3 ? "ok" : "throw"));
  const results = await new TaskFanout(noAgent, executor).fanout(tasks, { parallelism: 50, merge: "all" });
  expect(results.filter(({ success }) => success)).toHaveLength(133);
  expect(counts).toEqual({ open: 0, most: 50, created: 200 });
});

test("a task that hangs ends at its time, five minutes by default", async () => {
  const clock = createFakeClock();
  const { executor, counts } = createExecutor(answer);
  const done = new TaskFanout(noAgent, executor, undefined, { clock }).fanout(
    [task("hang"), task("hang", { timeout: 50 })],
    { merge: "all" },
  );
  await clock.advance(50);
  expect(counts.open).toBe(1);
  await clock.advance(299_949);
  expect(counts.open).toBe(1);
  await clock.advance(1);
  expect((await done).map(({ error }) => error)).toEqual([
    "The task timed out after 300000 ms.",
    "The task timed out after 50 ms.",
  ]);
  expect(clock.waiting).toBe(0);
});

test("a subagent that is created too late is closed", async () => {
  const clock = createFakeClock();
  let create = (_subagent: Subagent) => {};
  const createSubagent = () => new Promise<Subagent>((resolve) => (create = resolve));
  const done = new TaskFanout(noAgent, { createSubagent }, undefined, { clock }).fanout([task("a", { timeout: 10 })], {
    merge: "all",
  });
  await clock.advance(5_010);
  expect(await done).toMatchObject([{ success: false }]);
  let isClosed = false;
  create({ run: () => [], close: () => void (isClosed = true) });
  await expect.poll(() => isClosed).toBe(true);
});

test("stopOnError ends the others and rejects, but not for an answer that does not fit", async () => {
  const { executor, counts } = createExecutor(answer);
  const fanout = new TaskFanout(noAgent, executor);
  const tasks = [task("hang"), task("throw"), task("hang")];
  await expect(fanout.fanout(tasks, { stopOnError: true, parallelism: 2 })).rejects.toThrow(
    /^Task 1 failed: Error: boom$/,
  );
  expect(counts).toMatchObject({ open: 0, created: 2 });
  const unfit = await fanout.fanout([{ ...task("x"), schema: z.number() }], { stopOnError: true, merge: "all" });
  expect(unfit[0]?.error).toMatch(/^Schema validation failed: /);
});

test("first ends the others as soon as one succeeds", async () => {
  const { executor, counts } = createExecutor(answer);
  const tasks = [task("hang"), task("throw"), task("ok"), task("hang")];
  expect(await new TaskFanout(noAgent, executor).fanout(tasks, { merge: "first" })).toMatchObject([{ taskId: "ok" }]);
  expect(counts.open).toBe(0);
});

test("a stream without end is stopped by its length, or by its time if it says nothing", async () => {
  const flood = createExecutor(function* (prompt) {
    for (;;) yield prompt;
  });
  const tasks = [task("x".repeat(100_000)), task("nothing", { prompt: "", timeout: 20 })];
  const results = await new TaskFanout(noAgent, flood.executor).fanout(tasks, { merge: "all" });
  expect(results.map(({ error }) => error)).toEqual([
    "The answer is longer than 10000000 characters.",
    "The task timed out after 20 ms.",
  ]);
});

test("wrong options are refused before anything begins", async () => {
  const fanout = new TaskFanout(noAgent, createExecutor(answer).executor);
  await expect(fanout.fanout([], { parallelism: 0 })).rejects.toThrow(/parallelism/);
  await expect(fanout.fanout([task("a", { timeout: -1 })])).rejects.toThrow(/timeout/);
  expect(() => new TaskFanout({} as never)).toThrow(/executor/);
});

test("whenever it is aborted, each task ends once and nothing runs afterwards", async () => {
  const kind = fc.constantFrom("ok", "throw", "hang");
  await fc.assert(
    fc.asyncProperty(
      fc.array(kind, { maxLength: 12 }),
      fc.nat(60),
      fc.integer({ min: 1, max: 5 }),
      async (kinds, turns, parallelism) => {
        const { executor, counts } = createExecutor(answer);
        const controller = new AbortController();
        const done = new TaskFanout(noAgent, executor).fanout(
          kinds.map((id) => task(id)),
          { merge: "all", parallelism, signal: controller.signal },
        );
        for (let turn = 0; turn < turns; turn++) await Promise.resolve();
        controller.abort();
        const results = await done;
        expect(results.map(({ taskId }) => taskId)).toEqual(kinds);
        expect(results.every(({ taskId, success }) => taskId === "ok" || !success)).toBe(true);
        expect(counts.open).toBe(0);
      },
    ),
    { numRuns: 100 },
  );
});

async function open(turns: Parameters<typeof createTestSession>[0], params: TestSessionParams = {}) {
  const opened = await createTestSession(turns, params);
  onTestFinished(() => opened.dispose());
  return opened;
}

test("children of a session answer, with the tools of the task and their tokens", async () => {
  const { session, model } = await open([[call("ls", {})], [text("Found it.")]]);
  const [result] = await new TaskFanout(session).fanout([task("look", { tools: ["ls"] })]);
  expect(result).toMatchObject({ success: true, result: "Found it." });
  expect(result!.tokensUsed).toBeGreaterThan(0);
  expect(model.asked[0]!.context.tools!.map(({ name }) => name)).toEqual(["ls"]);
  expect(model.asked[0]!.context.systemPrompt).toContain("look");
});

test("an answer that does not fit is sent back with what is wrong, at most twice", async () => {
  const schema = z.object({ n: z.number() });
  const { session, model } = await open([
    [text('{"n":"x"}')],
    [text('```json\n{"n":1}\n```')],
    [text("no")],
    [text("no")],
    [text("no")],
  ]);
  const fanout = new TaskFanout({ session: async () => session });
  const [result] = await fanout.fanout([{ ...task("count"), schema }]);
  const n: number | undefined = result!.result?.n;
  expect(n).toBe(1);
  expect(model.asked[0]!.context.systemPrompt).toContain('"n"');
  expect(JSON.stringify(model.asked[1]!.context.messages.at(-1))).toMatch(/does not fit its schema: n: /);
  const [failed] = await fanout.fanout([{ ...task("count"), schema }], { merge: "all" });
  expect(failed!.error).toBe("Schema validation failed: The answer contains no JSON.");
  expect(model.left).toBe(0);
});

test("a task works in its directory, and one that does not exist is refused", async () => {
  const { session, cwd, model } = await open([[text("There.")]]);
  await mkdir(join(cwd, "part"));
  const tasks = [task("a", { worktree: "/none" }), task("b", { worktree: join(cwd, "part") })];
  const results = await new TaskFanout(session).fanout(tasks, { parallelism: 1, merge: "all" });
  expect(results.map(({ error }) => error)).toEqual([expect.stringMatching(/\/none does not exist/), undefined]);
  expect(model.asked[0]!.context.systemPrompt).toContain(`Working directory: ${join(cwd, "part")}`);
});

test.each(["dispose", "abort"] as const)("%s of the parent ends all", async (method) => {
  let hasAsked = () => {};
  const asked = new Promise<void>((resolve) => (hasAsked = resolve));
  const { session, model } = await open([
    async (_context, { signal }) => {
      hasAsked();
      await new Promise<void>((resolve) => signal!.addEventListener("abort", () => resolve(), { once: true }));
      return [text("Too late.")];
    },
  ]);
  const done = new TaskFanout(session).fanout([task("a"), task("b")], { parallelism: 1, merge: "all" });
  await asked;
  await session[method]();
  expect(await done).toMatchObject([{ success: false }, { success: false }]);
  expect(model.asked).toHaveLength(1);
});

test("an abort of the parent while the first children are opened ends all", async () => {
  const { session, model } = await open([]);
  const { openChild } = session;
  const opening = new Promise<void>((resolve) => {
    session.openChild = (options) => {
      resolve();
      return openChild.call(session, options);
    };
  });
  const done = new TaskFanout(session).fanout([task("a"), task("b")], { parallelism: 1, merge: "all" });
  await opening;
  await session.abort();
  expect(await done).toMatchObject([{ success: false }, { success: false }]);
  expect(model.asked).toEqual([]);
});

/** Lets git wait before it copies anything, until the test has ended. Resolves with what reports that it waits. */
async function stopCopies(repository: TestRepository): Promise<() => boolean> {
  const programs = join(repository.root, "programs");
  const waiting = join(repository.root, "waiting");
  const git = execFileSync("which", ["git"], { encoding: "utf8" }).trim();
  const script = `#!/bin/sh
for word; do [ "$word" = init ] && { touch ${JSON.stringify(waiting)}; exec sleep 30; }; done
exec ${git} "$@"
`;
  await mkdir(programs);
  await writeFile(join(programs, "git"), script, { mode: 0o755 });
  vi.stubEnv("PATH", `${programs}:${process.env["PATH"]}`);
  return () => existsSync(waiting);
}

test.each(["abort", "dispose"] as const)("%s of the parent ends tasks whose copies are being made", async (method) => {
  const repository = await createRepository();
  let api!: ExtensionAPI;
  const { session, model } = await open([], {
    cwd: repository.top,
    extensions: { factories: [(tau) => void (api ??= tau)] },
  });
  const isCopying = await stopCopies(repository);
  for (const agent of method === "abort" ? [session, api, { session: async () => session }] : [session]) {
    const done = new TaskFanout(agent).fanout([task("a"), task("b"), task("c")], { parallelism: 2, merge: "all" });
    await expect.poll(isCopying).toBe(true);
    await session[method]();
    expect((await done).map(({ error }) => error)).toEqual(Array(3).fill("The task was aborted."));
  }
  expect(model.asked).toEqual([]);
  expect(repository.left()).toEqual([]);
});

test("an abort of the parent ends the tasks of an executor of your own", async () => {
  const { session } = await open([]);
  const { executor, counts } = createExecutor(answer);
  const done = new TaskFanout(session, executor).fanout([task("hang"), task("hang", { worktree: session.cwd })], {
    merge: "all",
  });
  await expect.poll(() => counts.open).toBe(2);
  await session.abort();
  expect((await done).map(({ error }) => error)).toEqual(Array(2).fill("The task was aborted."));
  expect(counts.open).toBe(0);
});

test("an executor of your own works for an agent whose session cannot be opened", async () => {
  const { executor } = createExecutor(answer);
  for (const session of [() => Promise.reject(new Error("no key")), () => undefined as never]) {
    const results = await new TaskFanout({ session }, executor).fanout([task("ok", { worktree: "/" })]);
    expect(results).toMatchObject([{ success: true, result: "aok" }]);
  }
});

test("the end of one child is not the end of the others", async () => {
  let child: Awaited<ReturnType<typeof openChild>> | undefined;
  const { session } = await open([
    async (_context, { signal }) => {
      void child!.abort();
      if (!signal!.aborted)
        await new Promise<void>((resolve) => signal!.addEventListener("abort", () => resolve(), { once: true }));
      return [text("Too late.")];
    },
    [text("Done.")],
  ]);
  const { openChild } = session;
  session.openChild = async (options) => (child = await openChild.call(session, options));
  const results = await new TaskFanout(session).fanout([task("a"), task("b")], { parallelism: 1, merge: "all" });
  expect(results).toMatchObject([
    { success: false, error: expect.stringMatching(/^The run was aborted: /) },
    { success: true, result: "Done." },
  ]);
});

test("the example of docs/features.md runs", async () => {
  const page = await readFile(join(import.meta.dirname, "../../../docs/features.md"), "utf8");
  const example = await readFile(join(import.meta.dirname, "fanout.example.ts"), "utf8");
  expect(page).toContain(`\`\`\`ts\n${example}\`\`\`\n`);
  const { session } = await open([[text('{"file":"a.txt","lines":2}')]]);
  expect(await countLines(session, ["a.txt"])).toEqual(["a.txt: 2"]);
});

test("in a git repository each task works in a copy of its own, and its changes are a branch", async () => {
  const repository = await createRepository();
  const { session } = await open(
    [
      [call("write", { path: "c.txt", content: "changed" })],
      [text("Done.")],
      [call("read", { path: "a.txt" })],
      [text("Seen.")],
    ],
    { cwd: repository.top },
  );
  await repository.write("a.txt", "mine, not committed");
  const results = await new TaskFanout(session).fanout([task("writer"), task("reader")], { parallelism: 1 });
  expect(results.map(({ result }) => result)).toEqual(["Done.", "Seen."]);
  expect(results[1]).not.toHaveProperty("branch");
  const { branch } = results[0]!;
  expect(branch).toMatch(/^pi-fanout-writer-/);
  expect(repository.git("show", `${branch}:c.txt`)).toBe("changed");
  expect(repository.branches()).toEqual(["main", branch]);
  expect(repository.git("status", "--porcelain")).toBe(" M a.txt\n");
  expect(await readFile(join(repository.top, "a.txt"), "utf8")).toBe("mine, not committed");
  expect(repository.left()).toEqual([".tau-worktrees"]);
});

test("an executor of your own gets a copy for each task that names no directory, and its changes are a branch", async () => {
  const repository = await createRepository();
  const { session } = await open([], { cwd: repository.top });
  const places: (string | undefined)[] = [];
  const executor: Executor = {
    createSubagent: ({ worktree }) => ({
      async *run(prompt) {
        places.push(worktree);
        if (prompt === "write") await writeFile(join(worktree!, "new.txt"), "theirs");
        yield (await readFile(join(worktree!, "a.txt"), "utf8")).trim();
      },
    }),
  };
  const tasks = [task("write"), task("read"), task("here", { worktree: repository.top })];
  const results = await new TaskFanout(session, executor).fanout(tasks, { parallelism: 1 });
  const content = (await readFile(join(repository.top, "a.txt"), "utf8")).trim();
  expect(results.map(({ result }) => result)).toEqual([content, content, content]);
  expect(new Set(places).size).toBe(3);
  expect(places[2]).toBe(repository.top);
  const branch = results[0]!.branch!;
  expect(repository.git("show", `${branch}:new.txt`)).toBe("theirs");
  expect(repository.branches()).toEqual(["main", branch]);
  expect(repository.left()).toEqual([".tau-worktrees"]);
});

test("with the setting fanout.uncommitted, copies begin with uncommitted work", async () => {
  const repository = await createRepository();
  await repository.write("a.txt", "mine, not committed");
  const { session } = await open([], {
    cwd: repository.top,
    features: allFeatures,
    settings: { fanout: { uncommitted: true } } as never,
  });
  const executor: Executor = {
    createSubagent: ({ worktree }) => ({ run: async () => [await readFile(join(worktree!, "a.txt"), "utf8")] }),
  };
  const results = await new TaskFanout(session, executor).fanout([task("read")]);
  expect(results).toMatchObject([{ result: "mine, not committed" }]);
  expect(repository.branches()).toEqual(["main"]);
});

test("the API of an extension gives tasks copies too, and a task that is aborted leaves none", async () => {
  const repository = await createRepository();
  let api!: ExtensionAPI;
  const controller = new AbortController();
  await open(
    [
      async (_context, { signal }) => {
        controller.abort();
        await new Promise<void>((resolve) => signal!.addEventListener("abort", () => resolve(), { once: true }));
        return [text("Too late.")];
      },
    ],
    { cwd: repository.top, extensions: { factories: [(tau) => void (api ??= tau)] } },
  );
  const [result] = await new TaskFanout(api).fanout([task("a")], { merge: "all", signal: controller.signal });
  expect(result).toMatchObject({ success: false, error: "The task was aborted." });
  expect(repository.left()).toEqual([]);
});

test("git is asked once whether the tasks of a fan-out work in a repository", async () => {
  const { session } = await open([[text("a")], [text("b")], [text("c")]]);
  const programs = join(session.cwd, "programs");
  const asked = join(session.cwd, "asked");
  await mkdir(programs);
  await writeFile(join(programs, "git"), `#!/bin/sh\necho asked >> ${JSON.stringify(asked)}\nexit 128\n`, {
    mode: 0o755,
  });
  vi.stubEnv("PATH", `${programs}:${process.env["PATH"]}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  const results = await new TaskFanout(session).fanout([task("1"), task("2"), task("3")]);
  expect(results).toHaveLength(3);
  expect(await readFile(asked, "utf8")).toBe("asked\n");
});

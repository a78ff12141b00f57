import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createFakeClock } from "@tau/ai/testing";
import { describe, expect, test } from "vitest";
import { createBashTool } from "../src/shell/bash.ts";
import { createJobs, type Jobs } from "../src/shell/jobs.ts";
import { scratch } from "./scratch.ts";
import { containments, holdTimers, processesWith, shell, spawn, uniqueSleep, zombies } from "./shell-kit.ts";

/** How long a call that starts a job waits for a first output, or for a job that fails at once. */
const isFirstLook = (afterMs: number) => afterMs === 200;

describe.each(containments)("background jobs with %s", (containment, namespace) => {
  const doubt = containment === "best effort" ? " (best effort: something it started may still run)" : "";
  const fresh = (options: Parameters<typeof shell>[0] = {}) => shell({ ...options, ...(namespace && { namespace }) });

  test("a line that has not ended is offered again", async () => {
    const { bash, ask, jobs } = fresh();
    await bash({ command: "printf abc; until [ -e go ]; do sleep 0.02; done; echo def; sleep 30", background: true });
    await expect.poll(() => ask({ action: "read", id: "1" })).toMatch(/^abc/);
    expect(await ask({ action: "read", id: "1" })).toContain("[Later lines: offset=1]");
    await jobs.dispose();
  });

  test("nothing starts once the session is over, however early it was asked for", async () => {
    const { bash, jobs, cwd } = fresh();
    const early = bash({ command: "echo x > started", background: true }).catch(String);
    await jobs.dispose();
    expect(await early).toMatch(/session is over/);
    expect(existsSync(join(cwd, "started"))).toBe(false);
  });

  test("a job outlives its call, is listed and read, and dies when it is killed", async () => {
    const { clock, fire } = holdTimers(isFirstLook);
    const { bash, ask, jobs } = fresh({ clock });
    const marker = uniqueSleep();
    const command = `echo ready; setsid env -i sleep ${marker} & sleep ${marker}`;
    const call = bash({ command, background: true });
    await expect.poll(() => jobs.list()).toHaveLength(1);
    await expect.poll(() => ask({ action: "read", id: "1" })).toMatch(/^ready/);
    fire();
    const { text, details } = await call;
    expect(details).toMatchObject({ jobId: "1", outputFile: expect.stringMatching(/job-.*\.log$/) });
    expect(text).toBe(`ready\n\n[Job 1 is running. Log: ${details.outputFile}. Read or kill it with jobs.]`);
    await expect.poll(() => processesWith(marker)).toHaveLength(2);

    expect(await ask({ action: "list" })).toBe(`Job 1 is running. ${command} (Log: ${details.outputFile})`);
    expect(await ask({ action: "read", id: "1" })).toBe("ready\n\n[Later lines: offset=2]\n\n[Job 1 is running.]");
    expect(await ask({ action: "kill", id: "1" })).toBe(`Job 1 was killed${doubt}.`);
    expect(processesWith(marker)).toEqual([]);
    await expect.poll(zombies).toEqual([]);
    expect(await ask({ action: "read", id: "1" })).toBe(`ready\n\n[Job 1 was killed${doubt}.]`);
    expect(await ask({ action: "kill", id: "1" })).toBe(`Job 1 was killed${doubt}.`);
    await jobs.dispose();
  });

  test("a job goes on while other commands come and go", async () => {
    const { bash, ask, jobs } = fresh();
    await bash({ command: "while [ ! -e stop ]; do sleep 0.02; done; echo seen", background: true });
    await bash("echo x; touch stop");
    await expect.poll(() => jobs.list()[0]?.ended).toBeDefined();
    expect(await ask({ action: "read", id: "1" })).toBe("seen\n\n[Job 1 has ended. Command exited with code 0.]");
    expect(readFileSync(getLog(jobs), "utf8")).toBe("seen\n");
  });

  test("an abort after the call does not touch the job", async () => {
    const { bash, jobs } = fresh();
    const abort = new AbortController();
    const marker = uniqueSleep();
    await bash({ command: `sleep ${marker}`, background: true }, abort.signal);
    await expect.poll(() => processesWith(marker)).toHaveLength(1);
    abort.abort();
    await bash("true");
    expect(processesWith(marker)).toHaveLength(1);
    await jobs.dispose();
  });

  test("a job that fails at once says so in the call", async () => {
    const { clock } = holdTimers(isFirstLook);
    const { text, details } = await fresh({ clock }).bash({ command: "echo no >&2; exit 4", background: true });
    expect(text.startsWith(`no\n\n[Job 1 has ended. Command exited with code 4${doubt}. Log: `)).toBe(true);
    expect(details.exitCode).toBe(4);
  });

  test("a job with a time limit is ended by it", async () => {
    const { bash, ask, jobs } = fresh();
    const marker = uniqueSleep();
    await bash({ command: `sleep ${marker}`, background: true, timeout: 0.3 });
    await expect.poll(() => jobs.list()[0]?.ended).toBeDefined();
    expect(await ask({ action: "list" })).toContain(`Job 1 timed out and was ended${doubt}.`);
    expect(processesWith(marker)).toEqual([]);
  });

  test("the end of the session ends every job and every command, and starts no more", async () => {
    const { bash, failure, jobs } = fresh();
    const marker = uniqueSleep();
    const stubborn = `trap '' TERM; (setsid env -i sleep ${marker} >/dev/null 2>&1 &); sleep ${marker}; sleep ${marker}`;
    await bash({ command: stubborn, background: true });
    await bash({ command: stubborn, background: true });
    const running = failure(stubborn);
    await expect.poll(() => processesWith(marker)).toHaveLength(6);
    await jobs.dispose();
    expect(processesWith(marker)).toEqual([]);
    await expect.poll(zombies).toEqual([]);
    expect(await running).toMatch(/SIGKILL.*: the session is over/);
    expect(jobs.list().map(({ ended }) => ended?.why)).toEqual(["session", "session"]);
    expect(await failure("true")).toMatch(/session is over/);
    await jobs.dispose();
  });
});

const getLog = (jobs: Jobs) => {
  const { log } = jobs.list()[0]!;
  return "file" in log ? log.file : "";
};

describe("the end of a session", () => {
  /** A spawn that waits at a gate, and tells whether what went through is over. */
  const gated = () => {
    const gate = { isReached: false, isOver: false, open: () => {}, spawn };
    const isOpen = new Promise<void>((resolve) => (gate.open = resolve));
    gate.spawn = async (request) => {
      if (!request.argv.some((word) => word.includes("sleep 3600"))) return await spawn(request);
      gate.isReached = true;
      await isOpen;
      const child = await spawn(request);
      void child.exit.then(() => (gate.isOver = true));
      return child;
    };
    return gate;
  };

  test.each([true, false])("waits for what is just being started, and ends it (background: %j)", async (background) => {
    const gate = gated();
    const { bash, jobs } = shell({ spawn: gate.spawn });
    const marker = uniqueSleep();
    const call = bash({ command: `sleep ${marker}`, background }).catch(String);
    await expect.poll(() => gate.isReached).toBe(true);
    const disposal = jobs.dispose();
    gate.open();
    await disposal;
    expect(gate.isOver).toBe(true);
    expect(processesWith(marker)).toEqual([]);
    expect(await call).toMatch(/session is over/);
    await expect.poll(zombies).toEqual([]);
  });

  test("does not wait for ever for a start that hangs", async () => {
    const clock = createFakeClock();
    const jobs = createJobs({ clock });
    const gate = gated();
    const { bash } = shell({ spawn: gate.spawn, jobs });
    const call = bash(`sleep ${uniqueSleep()}`).catch(String);
    await expect.poll(() => gate.isReached).toBe(true);
    const disposal = jobs.dispose();
    await clock.advance(2_000);
    await disposal;
    gate.open();
    expect(await call).toMatch(/session is over/);
  });

  test.each([true, false])("an abort does not wait for a start that hangs (background: %j)", async (background) => {
    const clock = createFakeClock();
    const gate = gated();
    const { failure, jobs } = shell({ spawn: gate.spawn, clock });
    const marker = uniqueSleep();
    const abort = new AbortController();
    const call = failure({ command: `sleep ${marker}`, background }, abort.signal);
    await expect.poll(() => gate.isReached).toBe(true);
    abort.abort();
    await clock.advance(500);
    expect(await call).toBe("Command aborted while it was being started");
    gate.open();
    const isOver = async () => {
      await clock.advance(100);
      return gate.isOver;
    };
    await expect.poll(isOver).toBe(true);
    expect(processesWith(marker)).toEqual([]);
    expect(jobs.list()).toEqual([]);
  });

  test("removes the files that were made for it, and no directory that was given", async () => {
    const jobs = createJobs();
    const tool = createBashTool({ cwd: scratch(), spawn, jobs });
    const { details } = await tool.execute("id", { command: "seq 1 3000" });
    const given = shell({ jobs });
    const { details: others } = await given.bash("seq 1 3000");
    expect(readFileSync(details!.outputFile!, "utf8")).toMatch(/^1\n[^]*\n3000\n$/);
    await jobs.dispose();
    expect([existsSync(details!.outputFile!), existsSync(others.outputFile!)]).toEqual([false, true]);
  });
});

describe("the jobs tool", () => {
  test("reads a long log in parts", async () => {
    const { bash, ask, jobs } = shell();
    await bash({ command: "seq 1 3000", background: true });
    await expect.poll(() => jobs.list()[0]?.ended).toBeDefined();
    const first = await ask({ action: "read", id: "1", offset: 1 });
    expect(first).toMatch(/^1\n2\n[^]*\n2000\n\n\[Continue with offset=2001\.\]\n\n\[Job 1 has ended/);
    expect(await ask({ action: "read", id: "1", offset: 2999 })).toMatch(/^2999\n3000\n\n\[Job 1/);
    expect(await ask({ action: "read", id: "1", offset: 9999 })).toMatch(/^\(no output\)\n\n\[Job 1/);
    expect(await ask({ action: "read", id: "1" })).toMatch(
      /^1001\n[^]*3000\n\n\[Showing lines 1001-3000 of 3000\. Full output: /,
    );
  });

  test("explains what it cannot do", async () => {
    const { ask, bash } = shell();
    expect(await ask({ action: "list" })).toBe("There are no jobs.");
    await expect(ask({ action: "read" })).rejects.toThrow("To read a job, give its id.");
    await expect(ask({ action: "kill", id: "7" })).rejects.toThrow("There is no job 7. There are no jobs.");
    await bash({ command: "true", background: true });
    await expect(ask({ action: "kill", id: "7" })).rejects.toThrow("There is no job 7. There are: 1.");
  });

  test("refuses more jobs than may run at once", async () => {
    const jobs = createJobs({ maxRunning: 1 });
    const { bash, failure } = shell({ jobs });
    await bash({ command: `sleep ${uniqueSleep()}`, background: true });
    expect(await failure({ command: "true", background: true })).toMatch(/^1 jobs? .*Kill one first/);
    expect((await bash("echo fine")).text).toBe("fine");
    await jobs.dispose();
  });

  test("keeps to the limit when jobs are started all at once", async () => {
    const jobs = createJobs({ maxRunning: 32 });
    const { bash } = shell({ jobs });
    const marker = uniqueSleep();
    const calls = Array.from({ length: 40 }, () => bash({ command: `exec sleep ${marker}`, background: true }));
    const results = await Promise.allSettled(calls);
    const refused = results.filter((result) => result.status === "rejected");
    expect(refused).toHaveLength(8);
    for (const { reason } of refused) expect(String(reason)).toMatch(/32 jobs are running/);
    expect(jobs.list()).toHaveLength(32);
    await expect.poll(() => processesWith(marker)).toHaveLength(32);
    await jobs.dispose();
    expect(processesWith(marker)).toEqual([]);
  });

  test("a start that fails does not count as a running job", async () => {
    const jobs = createJobs({ maxRunning: 1 });
    const failing = shell({ jobs, namespace: () => Promise.reject(new Error("no luck")) });
    for (let round = 0; round < 3; round++) {
      expect(await failing.failure({ command: "true", background: true })).toBe("no luck");
    }
    await shell({ jobs }).bash({ command: "true", background: true });
    await jobs.dispose();
  });

  test("says that output is not kept, and why, and shows its end all the same", async () => {
    const cwd = scratch();
    writeFileSync(join(cwd, "file"), "");
    const { clock, fire } = holdTimers(isFirstLook);
    const { bash, ask, jobs } = shell({ outputDirectory: join(cwd, "file"), clock });
    const call = bash({ command: "echo hello; sleep 60", background: true });
    await expect.poll(() => jobs.list()).toHaveLength(1);
    await expect.poll(() => ask({ action: "read", id: "1" })).toMatch(/^hello/);
    fire();
    const { text, details } = await call;
    expect(text).toBe("hello\n\n[Job 1 is running. Its output is not kept (EEXIST). Read or kill it with jobs.]");
    expect(details).not.toHaveProperty("outputFile");
    expect(await ask({ action: "list" })).toMatch(/\(Its output is not kept \(EEXIST\)\)$/);
    expect(await ask({ action: "read", id: "1" })).toBe("hello\n\n[Job 1 is running.]");
    await expect(ask({ action: "read", id: "1", offset: 1 })).rejects.toThrow(
      "Its output is not kept (EEXIST). Read job 1 without offset to see its end.",
    );
    await jobs.dispose();
  });

  test("never cuts a command inside a character, and shows a list that is not too long", async () => {
    const jobs = createJobs({ clock: createFakeClock() });
    const { bash, ask } = shell({
      jobs,
      outputDirectory: join(scratch(), ...Array.from({ length: 9 }, () => "d".repeat(200))),
    });
    await Promise.all(
      Array.from({ length: 32 }, () => bash({ command: `: ${"x".repeat(97)}${"😀".repeat(50)}`, background: true })),
    );
    const list = await ask({ action: "list" });
    expect(list).toMatch(/^\[\d older jobs are not shown\.\]\n/);
    expect(Buffer.byteLength(list)).toBeLessThan(50 * 1024 + 100);
    expect(list).toContain(`: ${"x".repeat(97)}😀… (Log: `);
  });

  test("remembers only the last jobs that ended", async () => {
    const { bash, jobs } = shell({ jobs: createJobs({ clock: createFakeClock() }) });
    for (let round = 0; round < 5; round++) {
      await Promise.all(Array.from({ length: 8 }, () => bash({ command: "true", background: true })));
    }
    await expect
      .poll(() => jobs.list().map(({ id }) => id))
      .toEqual(Array.from({ length: 32 }, (_unused, index) => `${index + 9}`));
  });
});

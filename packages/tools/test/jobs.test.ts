import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createFakeClock } from "@tau/ai/testing";
import { describe, expect, test } from "vitest";
import { createJobs } from "../src/shell/jobs.ts";
import { containments, processesWith, shell, uniqueSleep, until, zombies } from "./shell-kit.ts";

describe.each(containments)("background jobs with %s", (_name, namespace) => {
  const fresh = (options: Parameters<typeof shell>[0] = {}) => shell({ ...options, ...(namespace && { namespace }) });

  test("a line that has not ended is offered again", async () => {
    const { bash, ask, jobs } = fresh();
    await bash({ command: "printf abc; until [ -e go ]; do sleep 0.02; done; echo def; sleep 30", background: true });
    await until(() => jobs.list().length === 1);
    await until(async () => (await ask({ action: "read", id: "1" })).startsWith("abc"));
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
    const { bash, ask, jobs } = fresh();
    const marker = uniqueSleep();
    const started = performance.now();
    const { text, details } = await bash({
      command: `echo ready; setsid env -i sleep ${marker} & sleep ${marker}`,
      background: true,
    });
    expect(performance.now() - started).toBeLessThan(1_500);
    expect(details).toMatchObject({ jobId: "1", outputFile: expect.stringMatching(/job-.*\.log$/) });
    expect(text).toBe(`ready\n\n[Job 1 is running. Log: ${details.outputFile}. Read or kill it with jobs.]`);
    await until(() => processesWith(marker).length === 2);

    expect(await ask({ action: "list" })).toBe(
      `Job 1 is running. echo ready; setsid env -i sleep ${marker} & sleep ${marker} (log: ${details.outputFile})`,
    );
    expect(await ask({ action: "read", id: "1" })).toBe("ready\n\n[Later lines: offset=2]\n\n[Job 1 is running.]");
    expect(await ask({ action: "kill", id: "1" })).toBe("Job 1 was killed.");
    expect(processesWith(marker)).toEqual([]);
    expect(zombies()).toEqual([]);
    expect(await ask({ action: "read", id: "1" })).toBe("ready\n\n[Job 1 was killed.]");
    expect(await ask({ action: "kill", id: "1" })).toBe("Job 1 was killed.");
    await jobs.dispose();
  });

  test("a job goes on while other commands come and go", async () => {
    const { bash, ask, jobs } = fresh();
    await bash({ command: "while [ ! -e stop ]; do sleep 0.02; done; echo seen", background: true });
    await bash("echo x; touch stop");
    await until(() => jobs.list()[0]?.ended !== undefined);
    expect(await ask({ action: "read", id: "1" })).toBe("seen\n\n[Job 1 has ended. Command exited with code 0.]");
    expect(readFileSync(jobs.list()[0]!.log, "utf8")).toBe("seen\n");
  });

  test("an abort after the call does not touch the job", async () => {
    const { bash, jobs } = fresh();
    const abort = new AbortController();
    const marker = uniqueSleep();
    await bash({ command: `sleep ${marker}`, background: true }, abort.signal);
    abort.abort();
    await bash("true");
    expect(processesWith(marker)).toHaveLength(1);
    await jobs.dispose();
  });

  test("a job that fails at once says so in the call", async () => {
    const { text, details } = await fresh().bash({ command: "echo no >&2; exit 4", background: true });
    expect(text).toMatch(/^no\n\n\[Job 1 has ended\. Command exited with code 4\. Log: .*\]$/);
    expect(details.exitCode).toBe(4);
  });

  test("a job with a time limit is ended by it", async () => {
    const { bash, ask, jobs } = fresh();
    const marker = uniqueSleep();
    await bash({ command: `sleep ${marker}`, background: true, timeout: 0.3 });
    await until(() => jobs.list()[0]?.ended !== undefined);
    expect(await ask({ action: "list" })).toMatch(/^Job 1 timed out and was ended\./);
    expect(processesWith(marker)).toEqual([]);
  });

  test("the end of the session ends every job and every command within two seconds, and starts no more", async () => {
    const { bash, failure, jobs } = fresh();
    const marker = uniqueSleep();
    const stubborn = `trap '' TERM; (setsid env -i sleep ${marker} >/dev/null 2>&1 &); sleep ${marker}; sleep ${marker}`;
    await bash({ command: stubborn, background: true });
    await bash({ command: stubborn, background: true });
    const running = failure(stubborn);
    await until(() => processesWith(marker).length === 6);
    const started = performance.now();
    await jobs.dispose();
    expect(performance.now() - started).toBeLessThan(2_000);
    expect(processesWith(marker)).toEqual([]);
    expect(zombies()).toEqual([]);
    expect(await running).toMatch(/SIGKILL/);
    expect(await failure("true")).toMatch(/session is over/);
    await jobs.dispose();
  });
});

describe("the jobs tool", () => {
  test("reads a long log in parts", async () => {
    const { bash, ask } = shell();
    await bash({ command: "seq 1 3000", background: true });
    const first = await ask({ action: "read", id: "1", offset: 1 });
    expect(first).toMatch(/^1\n2\n[^]*\n2000\n\n\[Go on with offset=2001\.\]\n\n\[Job 1 has ended/);
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

  test("remembers only the last jobs that ended", async () => {
    const { bash, jobs } = shell({ jobs: createJobs({ clock: createFakeClock() }) });
    for (let round = 0; round < 5; round++) {
      await Promise.all(Array.from({ length: 8 }, () => bash({ command: "true", background: true })));
    }
    expect(jobs.list()).toHaveLength(32);
    expect(jobs.list()[0]!.id).toBe("9");
  });
});

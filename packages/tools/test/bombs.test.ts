import { existsSync } from "node:fs";
import { totalmem } from "node:os";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { describeExcess, type Limits, resolveLimits, toRlimits, toSystemLimits } from "../src/shell/limits.ts";
import { createProcessTable, parseLoad } from "../src/shell/process-tree.ts";
import { hasGrown, type Check, watchLimits } from "../src/shell/watch.ts";
import { containments, processesWith, shell, uniqueSleep, zombies } from "./shell-kit.ts";
import { allowance, measureLoopDelay } from "./time.ts";

/** The machine may be busy with other things: of three times, the calmest tells how much the bomb is to blame. */
async function calmest(run: () => Promise<void>): Promise<number> {
  let delayMs = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < 3 && delayMs >= 100; turn++) delayMs = Math.min(delayMs, await measureLoopDelay(run));
  return delayMs;
}

/** Doubles until it is stopped; its argument tells its processes from others. */
const forkBomb = (name: string) => `bash -c ':(){ :|:& };:; sleep 20' ${name}`;

if (!existsSync("/proc/self/autogroup")) console.log("The system shares no time among sessions: not tested.");

describe.each(containments)("with %s", (_containment, namespace) => {
  const limited = (limits: Partial<Limits>) => shell({ limits, ...(namespace && { namespace }) });

  test("a fork bomb is ended whole, and we can work meanwhile", async () => {
    const name = uniqueSleep();
    const delayMs = await calmest(async () => {
      const text = await limited({ processes: 256 }).failure(forkBomb(name));
      expect(text).toContain("[The command was ended: it had more than 256 processes at once.]");
      expect(processesWith(name)).toEqual([]);
      await expect.poll(zombies).toEqual([]);
    });
    expect(delayMs).toBeLessThan(allowance(400));
  });

  test.each([
    ["", "tail /dev/zero"],
    [" that spreads over processes", "for i in {1..12}; do (head -c 20M /dev/zero; sleep 20) | tail & done; wait"],
  ])("a memory bomb%s is ended, and we can work meanwhile", async (_name, command) => {
    const delayMs = await calmest(async () => {
      const text = await limited({ memoryBytes: 96 * 1024 * 1024 }).failure(command);
      expect(text).toContain("[The command was ended: it used more than 96.0 MB of memory.]");
    });
    expect(delayMs).toBeLessThan(allowance(400));
  });

  test("a process cannot open more files than its limit, nor raise it", async () => {
    const command = "ulimit -S -n 4096; for ((i=0;;i++)); do exec {fd}</dev/null || break; done; echo opened $i";
    const { text } = await limited({ openFiles: 512 }).bash(`(${command}) 2>&1`);
    expect(text).toMatch(/Too many open files/);
    expect(Number(/opened (\d+)/.exec(text)?.[1])).toBeLessThan(512);
  });

  test("what other programs take is not counted for a command", async () => {
    const { text } = await limited({ processes: 8, memoryBytes: 64 * 1024 * 1024 }).bash("sleep 0.6; echo fine");
    expect(text).toBe("fine");
  });

  test("a command is what the system ends when memory runs out", async () => {
    expect((await limited({}).bash("cat /proc/self/oom_score_adj")).text).toBe("500");
  });

  test.skipIf(!existsSync("/proc/self/autogroup"))(
    "a command has a lower priority when processors are short",
    async () => {
      // The kernel takes only ten of these requests in a second from all ordinary users together.
      const { bash } = limited({});
      await expect.poll(async () => (await bash("cat /proc/self/autogroup")).text).toMatch(/ nice 5$/);
    },
  );

  test("the system lets an ordinary user start few more processes than are watched", async () => {
    const { bash } = limited({ processes: 100 });
    // Other programs may start or end many processes between the two looks.
    const measure = async () => {
      const { text } = await bash("ulimit -u");
      const { tasks } = (await createProcessTable().load())!;
      return Number(text) > 400 && Number(text) < 2 * tasks + 400;
    };
    await expect.poll(measure).toBe(true);
  });
});

test.runIf(process.platform === "linux")("commands that run together read the load of the machine once", async () => {
  const table = createProcessTable();
  const load = (await table.load())!;
  expect(await table.load(3_600_000)).toBe(load);
  expect(await table.load()).not.toBe(load);
});

describe.skipIf(containments.length < 2)("in a pid namespace", () => {
  test("a fork bomb whose processes leave their group is ended too", async () => {
    const name = uniqueSleep();
    // It doubles nine times and no more: what should get away from us must not take the machine along.
    const again = `setsid bash -c "$1" ${name} "$1" $(($2 - 1)) &`;
    const command = `b='[ $2 -gt 0 ] && { ${again} ${again} }; sleep 20'; bash -c "$b" ${name} "$b" 9`;
    expect(await shell({ limits: { processes: 64 } }).failure(command)).toMatch(/more than 64 processes/);
    expect(processesWith(name)).toEqual([]);
  });
});

describe("the limits", () => {
  const limits = resolveLimits();

  test("are beyond ordinary work, and below what there is", () => {
    expect(limits.processes).toBeGreaterThanOrEqual(1_024);
    expect(limits.memoryBytes).toBeLessThan(totalmem());
    expect(limits.memoryBytes).toBeGreaterThan(totalmem() / 16);
    expect(resolveLimits({ processes: 7 })).toEqual({ ...limits, processes: 7 });
    expect(resolveLimits({ processes: undefined, memoryBytes: undefined })).toEqual(limits);
  });

  test("are never higher than our own", () => {
    const load = { tasks: 50, usedBytes: 0, lastPid: 1 };
    expect(toRlimits(toSystemLimits({ ...limits, processes: 10 }, { maxFiles: limits.openFiles, load }))).toEqual([
      "ulimit -p 90 || ulimit -u 90",
    ]);
    expect(toRlimits(toSystemLimits(limits, { maxFiles: limits.openFiles + 1, load: undefined }))).toEqual([
      "ulimit -n 65536",
    ]);
    expect(toRlimits(toSystemLimits(limits, { maxFiles: undefined, load: undefined }))).toEqual([]);
  });

  test("whatever is over them is described, and nothing else", () => {
    const most = { processes: 10, memoryBytes: 1_000, openFiles: 5 };
    const amount = fc.nat({ max: 2_000 });
    fc.assert(
      fc.property(amount, amount, (processes, memoryBytes) => {
        const isOver = processes > most.processes || memoryBytes > most.memoryBytes;
        expect(describeExcess({ processes, memoryBytes }, most) !== undefined).toBe(isOver);
      }),
    );
  });

  test("a machine whose other programs give nothing back is always looked at before a limit is passed", () => {
    const most = { processes: 1_000, memoryBytes: 10_000, openFiles: 5 };
    const growth = fc.array(fc.record({ tasks: fc.nat({ max: 100 }), bytes: fc.nat({ max: 1_000 }) }));
    fc.assert(
      fc.property(growth, (steps) => {
        const load = { tasks: 300, usedBytes: 5_000, lastPid: 1 };
        let last: Check = { load, usage: { processes: 0, memoryBytes: 0 }, atMs: 0 };
        const usage = { processes: 0, memoryBytes: 0 };
        const now = { ...load };
        for (const { tasks, bytes } of steps) {
          usage.processes += tasks;
          usage.memoryBytes += bytes;
          now.tasks += tasks;
          now.usedBytes += bytes;
          const isOver = describeExcess(usage, most) !== undefined;
          if (hasGrown(last, now, most)) {
            if (isOver) return;
            last = { load: { ...now }, usage: { ...usage }, atMs: 0 };
          } else expect(isOver).toBe(false);
        }
      }),
    );
  });

  test("it is looked at now and then, whatever the machine says", async () => {
    const load = { tasks: 300, usedBytes: 5_000, lastPid: 1 };
    const looks: { atMs: number; isUrgent: boolean }[] = [];
    let nowMs = 0;
    let fire: (() => void) | undefined;
    const stop = watchLimits({
      clock: {
        now: () => nowMs,
        monotonic: () => nowMs,
        setTimer(_afterMs, next) {
          fire = next;
          return () => (fire = undefined);
        },
      },
      limits,
      first: load,
      load: () => Promise.resolve(load),
      usage(isUrgent) {
        looks.push({ atMs: nowMs, isUrgent });
        return Promise.resolve({ processes: 1, memoryBytes: 1 });
      },
      onExcess: (text) => expect.fail(text),
    });
    for (; nowMs <= 11_000; nowMs += 100) {
      fire?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    stop();
    expect(looks).toEqual([5_000, 10_000].map((atMs) => ({ atMs, isUrgent: false })));
    expect(fire).toBeUndefined();
  });

  test("a look that fails is followed by others, and does no harm", async () => {
    let fire: (() => void) | undefined;
    let looks = 0;
    const stop = watchLimits({
      clock: {
        now: () => 0,
        monotonic: () => 0,
        setTimer(_afterMs, next) {
          fire = next;
          return () => (fire = undefined);
        },
      },
      limits,
      first: undefined,
      load: () => (++looks === 1 ? Promise.reject(new Error("no load")) : Promise.resolve(undefined)),
      usage: () => expect.fail("nothing is known of the machine"),
      onExcess: (text) => expect.fail(text),
    });
    for (let turn = 0; turn < 3; turn++) {
      fire?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    stop();
    expect(looks).toBe(3);
  });

  test("what the system says of itself is read, and what it does not say is no figure", () => {
    const memory = "MemTotal:       24683000 kB\nMemFree:  17000000 kB\nMemAvailable:   24000000 kB\n";
    expect(parseLoad("0.10 0.20 0.30 2/180 4242\n", memory)).toEqual({
      tasks: 180,
      lastPid: 4242,
      usedBytes: 683_000 * 1024,
    });
    expect(parseLoad("", memory)).toBeUndefined();
    expect(parseLoad("0.10 0.20 0.30 2/180 4242\n", "")).toBeUndefined();
  });
});

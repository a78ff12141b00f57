import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { SerialQueue } from "./serial-queue.ts";

/** Work that notes when it starts and ends, and takes a moment. */
const createWork = (name: string, log: string[]) => async () => {
  log.push(`${name} starts`);
  await setImmediate();
  log.push(`${name} ends`);
  if (name === "failing") throw new Error(name);
  return name;
};

test("work starts when all earlier work has settled, also when that failed", async () => {
  const log: string[] = [];
  const queue = new SerialQueue();
  const done = [queue.add(createWork("failing", log)), queue.add(createWork("second", log))];
  expect([log, queue.isIdle]).toEqual([[], false]);
  await expect(done[0]).rejects.toThrow("failing");
  expect(await done[1]).toBe("second");
  expect(log).toEqual(["failing starts", "failing ends", "second starts", "second ends"]);
});

test("it is idle when everything has settled, also what was added meanwhile", async () => {
  const log: string[] = [];
  const queue = new SerialQueue();
  await queue.whenIdle();
  void queue.add(createWork("first", log)).then(() => void queue.add(createWork("second", log)));
  await queue.whenIdle();
  expect([log, queue.isIdle]).toEqual([["first starts", "first ends", "second starts", "second ends"], true]);
});

test("waiting until it is idle never rejects", async () => {
  const queue = new SerialQueue();
  const failed = queue.add(createWork("failing", []));
  const idle = queue.whenIdle();
  await expect(failed).rejects.toThrow("failing");
  await idle;
});

/** A promise that is kept when it is told to. */
function createGate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

test("work is done one after the other, in the order it was enqueued", async () => {
  const queue = new SerialQueue();
  const log: string[] = [];
  const gate = createGate();
  const done = [
    queue.add(async () => {
      log.push("first begins");
      await gate.opened;
      log.push("first ends");
    }),
    queue.add(async () => void log.push("second")),
    queue.add(async () => void log.push("third")),
  ];
  await Promise.resolve();
  expect(log).toEqual(["first begins"]);
  gate.open();
  await Promise.all(done);
  expect(log).toEqual(["first begins", "first ends", "second", "third"]);
});

test.each<[string, () => Promise<never>]>([
  ["rejects", () => Promise.reject(new Error("It broke."))],
  [
    "throws",
    () => {
      throw new Error("It broke.");
    },
  ],
])("work that %s tells its own caller, and the next is done all the same", async (_how, fail) => {
  const queue = new SerialQueue();
  const failed = queue.add(fail);
  const next = queue.add(async () => "done");
  await expect(failed).rejects.toThrow("It broke.");
  expect(await next).toBe("done");
  await queue.whenIdle();
  expect(queue.isIdle).toBe(true);
});

test("a queue is idle before the first work, and after the last", async () => {
  const queue = new SerialQueue();
  expect(queue.isIdle).toBe(true);
  const done = queue.add(async () => undefined);
  expect(queue.isIdle).toBe(false);
  await done;
  expect(queue.isIdle).toBe(true);
});

test("whenIdle also waits for what is added meanwhile, by others or by the work itself", async () => {
  const queue = new SerialQueue();
  const log: string[] = [];
  const gate = createGate();
  void queue.add(async () => {
    await gate.opened;
    log.push("first");
    void queue.add(async () => void log.push("by the first"));
  });
  const idle = queue.whenIdle().then(() => log.push("idle"));
  void queue.add(async () => void log.push("by another"));
  gate.open();
  await idle;
  expect(log).toEqual(["first", "by another", "by the first", "idle"]);
});

test("for any works, of which some fail and some enqueue others, no two overlap and whenIdle waits for all", async () => {
  type Work = { turns: number; fails: boolean; children: number };
  const works = fc.array(fc.record({ turns: fc.nat(3), fails: fc.boolean(), children: fc.nat(2) }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(works, async (drawn) => {
      const queue = new SerialQueue();
      let running = 0;
      let started = 0;
      let overlaps = 0;
      let enqueued = 0;
      const enqueue = ({ turns, fails, children }: Work): void => {
        enqueued++;
        const work = async () => {
          started++;
          if (++running > 1) overlaps++;
          for (let child = 0; child < children; child++) enqueue({ turns, fails: !fails, children: 0 });
          for (let turn = 0; turn < turns; turn++) await Promise.resolve();
          running--;
          if (fails) throw new Error("It broke.");
        };
        queue.add(work).catch(() => undefined);
      };
      for (const work of drawn) enqueue(work);
      await queue.whenIdle();
      expect({ running, overlaps, started, isIdle: queue.isIdle }).toEqual({
        running: 0,
        overlaps: 0,
        started: enqueued,
        isIdle: true,
      });
    }),
  );
});

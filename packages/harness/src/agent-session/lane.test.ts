import fc from "fast-check";
import { expect, test } from "vitest";
import { Lane } from "./lane.ts";

/** A promise that is kept when it is told to. */
function createGate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

test("work is done one after the other, in the order it was enqueued", async () => {
  const lane = new Lane();
  const log: string[] = [];
  const gate = createGate();
  const done = [
    lane.enqueue(async () => {
      log.push("first begins");
      await gate.opened;
      log.push("first ends");
    }),
    lane.enqueue(async () => void log.push("second")),
    lane.enqueue(async () => void log.push("third")),
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
  const lane = new Lane();
  const failed = lane.enqueue(fail);
  const next = lane.enqueue(async () => "done");
  await expect(failed).rejects.toThrow("It broke.");
  expect(await next).toBe("done");
  await lane.whenIdle();
  expect(lane.isIdle).toBe(true);
});

test("a lane is idle before the first work, and after the last", async () => {
  const lane = new Lane();
  expect(lane.isIdle).toBe(true);
  const done = lane.enqueue(async () => undefined);
  expect(lane.isIdle).toBe(false);
  await done;
  expect(lane.isIdle).toBe(true);
});

test("whenIdle also waits for what is enqueued meanwhile, by others or by the work itself", async () => {
  const lane = new Lane();
  const log: string[] = [];
  const gate = createGate();
  void lane.enqueue(async () => {
    await gate.opened;
    log.push("first");
    void lane.enqueue(async () => void log.push("by the first"));
  });
  const idle = lane.whenIdle().then(() => log.push("idle"));
  void lane.enqueue(async () => void log.push("by another"));
  gate.open();
  await idle;
  expect(log).toEqual(["first", "by another", "by the first", "idle"]);
});

test("for any works, of which some fail and some enqueue others, no two overlap and whenIdle waits for all", async () => {
  type Work = { turns: number; fails: boolean; children: number };
  const works = fc.array(fc.record({ turns: fc.nat(3), fails: fc.boolean(), children: fc.nat(2) }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(works, async (drawn) => {
      const lane = new Lane();
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
        lane.enqueue(work).catch(() => undefined);
      };
      for (const work of drawn) enqueue(work);
      await lane.whenIdle();
      expect({ running, overlaps, started, isIdle: lane.isIdle }).toEqual({
        running: 0,
        overlaps: 0,
        started: enqueued,
        isIdle: true,
      });
    }),
  );
});

/** How long calls take at most. These tests run alone, and their limits grow with the load of the machine. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createFakeClock } from "@tau/ai/testing";
import { describe, expect, test } from "vitest";
import { createReadTool } from "../src/files/read.ts";
import { createFiles } from "../src/platform/files.ts";
import { blank } from "./pictures.ts";
import { scratch } from "./scratch.ts";
import { containments, processesWith, shell, uniqueSleep } from "./shell-kit.ts";
import { expectWithin, measureLoopDelay } from "./time.ts";

async function measureMs(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

describe.each(containments)("with %s", (_containment, namespace) => {
  const fresh = () => shell({ ...(namespace && { namespace }) });

  test("a program that ignores an abort is gone in a fifth of a second", async () => {
    await expectWithin(200, async () => {
      const marker = uniqueSleep();
      const abort = new AbortController();
      const result = fresh().failure(`trap '' TERM; sleep ${marker}; sleep ${marker}`, abort.signal);
      await expect.poll(() => processesWith(marker)).toHaveLength(1);
      const durationMs = await measureMs(async () => {
        abort.abort();
        await result;
      });
      expect(processesWith(marker)).toEqual([]);
      return durationMs;
    });
  });

  test("a grandchild that holds the output holds the call for a second and a half at most", async () => {
    await expectWithin(1_500, () => measureMs(() => fresh().bash(`setsid sleep ${uniqueSleep()} & echo done`)));
  });

  test("a call that starts a job is over in a second and a half", async () => {
    await expectWithin(1_500, async () => {
      const { bash, jobs } = fresh();
      const durationMs = await measureMs(() => bash({ command: `sleep ${uniqueSleep()}`, background: true }));
      await jobs.dispose();
      return durationMs;
    });
  });

  test("the end of a session is over in two seconds, whatever its jobs ignore", async () => {
    await expectWithin(2_000, async () => {
      const { bash, jobs } = fresh();
      const marker = uniqueSleep();
      const command = `trap '' TERM; (setsid env -i sleep ${marker} >/dev/null 2>&1 &); sleep ${marker}; sleep ${marker}`;
      await bash({ command, background: true });
      await expect.poll(() => processesWith(marker)).toHaveLength(2);
      return await measureMs(() => jobs.dispose());
    });
  });
});

test("a large image is made smaller without holding up other work", async () => {
  const cwd = scratch();
  writeFileSync(join(cwd, "picture"), blank(2_500, 2_500));
  // However slow the machine is, the time limit for an image does not come.
  const tool = createReadTool({ cwd, files: createFiles(), clock: createFakeClock() });
  await expectWithin(100, () => measureLoopDelay(() => tool.execute("id", { path: "picture" })));
});

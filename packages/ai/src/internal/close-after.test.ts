import { expect, test } from "vitest";
import { closeAfter } from "./close-after.ts";

/** Something open that notes when it is closed. */
function createOpen() {
  const log: string[] = [];
  return { log, close: async () => void log.push("closed") };
}

test("what is open is closed after the work, whose result is returned", async () => {
  const open = createOpen();
  const result = await closeAfter(open, async ({ log }) => {
    await Promise.resolve();
    log.push("worked");
    return "result";
  });
  expect([result, open.log]).toEqual(["result", ["worked", "closed"]]);
});

test("what is open is closed also if the work fails, and the failure is thrown", async () => {
  const open = createOpen();
  await expect(closeAfter(open, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(open.log).toEqual(["closed"]);
});

import { expect, onTestFinished, test, vi } from "vitest";
import { createModuleGlobals } from "./module-globals.ts";

test("a timer that starts itself again ends when the extension is closed", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const globals = createModuleGlobals((error) => expect.unreachable(String(error)));
  const own = globals.bindings as Pick<typeof globalThis, "setTimeout">;
  let count = 0;
  const timer = own.setTimeout(() => {
    count++;
    timer.refresh();
  }, 10);
  await vi.advanceTimersByTimeAsync(35);
  expect(count).toBe(3);
  globals.close();
  await vi.advanceTimersByTimeAsync(100);
  expect(count).toBe(3);
});

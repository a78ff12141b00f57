import { expect, test } from "vitest";
import { FirstEntries } from "./first-entries.ts";
import type { Transcript } from "./transcript.ts";

test("an interface that ends before the rest is drawn draws nothing, and immediates are still called", async () => {
  let drawn = 0;
  const transcript = { hasUndrawn: true, drawRest: () => void drawn++ } as unknown as Transcript;
  const entries = new FirstEntries({ transcript, isReady: () => true, requestRender: () => {} });
  entries.update();
  // The time until the rest is drawn has begun.
  await new Promise((resolve) => setImmediate(resolve));
  entries.stop();
  // Alone: others that wait would hide that one is not counted.
  const isCalled = await new Promise((resolve) => {
    const timeout = setTimeout(() => resolve(false), 2_000);
    setImmediate(() => {
      clearTimeout(timeout);
      resolve(true);
    });
  });
  expect(isCalled).toBe(true);
  expect(drawn).toBe(0);
});

import { expect, test } from "vitest";
import { platform } from "./node.ts";

test("ids are random UUIDs, and none comes twice", () => {
  const ids = Array.from({ length: 1_000 }, () => platform.uuid());
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  // Every bit but those that say what it is comes up both ways.
  const bits = ids.map((id) => BigInt(`0x${id.replaceAll("-", "")}`));
  const [seldom, often] = [ids.length / 3, (ids.length * 2) / 3];
  for (let bit = 0n; bit < 128n; bit++) {
    if ([62n, 63n, 76n, 77n, 78n, 79n].includes(bit)) continue;
    const set = bits.filter((value) => (value >> bit) & 1n).length;
    expect(set).toBeGreaterThan(seldom);
    expect(set).toBeLessThan(often);
  }
});

test("the monotonic clock goes on in milliseconds and never back", async () => {
  const before = performance.now();
  const first = platform.monotonic();
  const insideBefore = performance.now();
  await new Promise((resolve) => setTimeout(resolve, 20));
  const insideMs = performance.now() - insideBefore;
  const passedMs = platform.monotonic() - first;
  const outsideMs = performance.now() - before;
  expect(passedMs).toBeGreaterThanOrEqual(insideMs - 1);
  expect(passedMs).toBeLessThanOrEqual(outsideMs + 1);
});

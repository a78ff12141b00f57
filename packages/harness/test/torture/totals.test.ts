/** Tests that the totals of a session are those of its log, whatever the index had counted before. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { emptyUsage } from "@tau/ai";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { NewEntry, SessionEntry } from "../../src/session/entry.ts";
import { encodeLine } from "../../src/session/line.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { countEntry, emptyTotals, type SessionTotals } from "../../src/session/totals.ts";
import { createLog, entry, hexId, patience, quickScratch, times, user } from "./kit.ts";

const count = (entries: readonly SessionEntry[]) => entries.reduce<SessionTotals>(countEntry, emptyTotals);

/** Reads every line, without the index. */
async function readTotals(path: string): Promise<SessionTotals> {
  const session = await SessionManager.open(path, { access: "read", verifiesAll: true });
  const totals = count(await session.getEntries());
  await session.close();
  return totals;
}

const amount = fc.oneof(
  fc.nat(1_000_000),
  fc.double({ min: 0, max: 10, noNaN: true }),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -1, 1e300, "7", null, undefined),
);
const usage = fc.record({
  input: amount,
  output: amount,
  cacheRead: amount,
  cacheWrite: amount,
  totalTokens: amount,
  cost: fc.record({ input: amount, output: amount, total: amount }),
});
const content = fc.array(fc.record({ type: fc.constantFrom("text", "toolCall"), text: fc.constant("x") }));
const newEntry = fc.oneof(
  fc.record({
    type: fc.constant("message"),
    message: fc.record({
      role: fc.constantFrom("user", "assistant", "toolResult", "bashExecution"),
      content,
      usage,
      // Long enough that a few entries are worth an index.
      padding: fc.constantFrom("", "x".repeat(30_000)),
    }),
  }),
  fc.record({ type: fc.constantFrom("usage", "compaction", "branch_summary", "custom"), usage }),
) as unknown as fc.Arbitrary<NewEntry>;

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("append" as const), entry: newEntry }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom("count", "reopen", "lose the index", "crash", "be written") }),
  },
);

test(
  "the totals are those of a full read, after any appends, crashes and lost indexes",
  { timeout: patience(60) },
  () =>
    fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 30 }), async (steps) => {
        const path = join(quickScratch(), "2026-01-01T00-00-00-000Z_torture.jsonl");
        const index = `${path}.idx`;
        writeFileSync(path, createLog(2));
        let session = await SessionManager.open(path);
        for (const [number, current] of steps.entries()) {
          if (current.do === "append") await session.append(current.entry);
          else if (current.do === "count") expect(await session.getTotals()).toEqual(await readTotals(path));
          else {
            const before = existsSync(index) ? readFileSync(index) : undefined;
            await session.close();
            if (current.do === "lose the index") rmSync(index, { force: true });
            // A process that is killed leaves the index as it was.
            if (current.do === "crash" && before) writeFileSync(index, before);
            // Another program appends a line.
            const foreign = { ...entry(100 + number, 1), usage: emptyUsage() };
            if (current.do === "be written") writeFileSync(path, encodeLine(foreign), { flag: "a" });
            session = await SessionManager.open(path);
          }
        }
        const [first, second] = await Promise.all([session.getTotals(), session.getTotals()]);
        expect(first).toEqual(await readTotals(path));
        expect(second).toEqual(first);
        await session.append({ type: "message", message: user("one more") });
        await session.close();
        const again = await SessionManager.open(path, { access: "read" });
        expect(await again.getTotals()).toEqual(await readTotals(path));
        await again.close();
      }),
      { numRuns: times(60) },
    ),
);

test("entries are counted once: a session that is opened again reads none of them", async () => {
  const path = join(quickScratch(), "2026-01-01T00-00-00-000Z_torture.jsonl");
  const bytes = createLog(600);
  writeFileSync(path, bytes);
  const first = await SessionManager.open(path);
  const totals = await first.getTotals();
  expect(totals.messages.user).toBe(600);
  await first.close();
  // The line is damaged in the middle, where only a read would notice.
  const damaged = Buffer.from(bytes);
  damaged.fill("x", damaged.indexOf(hexId(300 * 0x01234567)), damaged.indexOf(hexId(300 * 0x01234567)) + 4);
  writeFileSync(path, damaged);
  const second = await SessionManager.open(path);
  expect(await second.getTotals()).toEqual(totals);
  // When the damage is noticed, the line no longer counts.
  await second.getEntries();
  expect((await second.getTotals()).messages.user).toBe(599);
  await second.close();
});

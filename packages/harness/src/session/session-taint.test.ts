import fc from "fast-check";
import { expect, test } from "vitest";
import type { SessionEntry } from "./entry.ts";
import { SessionTaint, type SessionTaintParts } from "./session-taint.ts";
import type { Taint } from "@tau/policy/internal";

const rules = { roots: ["/work"], readable: [], home: "/home/me", agentDir: "/home/me/.tau" };

/** A log in memory. `fails`: how many of the next appends are refused. */
class Log {
  readonly entries: SessionEntry[] = [];
  fails = 0;

  async getEntries(): Promise<readonly SessionEntry[]> {
    await Promise.resolve();
    return [...this.entries];
  }

  async appendCustomEntry(customType: string, data: unknown): Promise<void> {
    await Promise.resolve();
    if (this.fails-- > 0) throw new Error("The disk is full.");
    this.entries.push({ type: "custom", customType, data } as unknown as SessionEntry);
  }
}

/** A session of a family, which may be closed and opened again with the same log. */
interface Member {
  readonly log: Log;
  readonly parent: Member | undefined;
  taint: SessionTaint | undefined;
}

async function open(member: Member): Promise<void> {
  const parts: SessionTaintParts = { rules, cwd: "/work", log: member.log, parent: member.parent?.taint };
  member.taint = new SessionTaint(parts);
  await member.taint.join();
}

async function start(parent?: Member): Promise<Member> {
  const member: Member = { log: new Log(), parent, taint: undefined };
  await open(member);
  return member;
}

/** A session ends with its parent. */
function close(member: Member, all: readonly Member[]): void {
  for (const child of all) if (child.parent === member) close(child, all);
  member.taint?.close();
  member.taint = undefined;
}

const taint: Taint = { source: "network", detail: "curl" };

type Step = { kind: "start" | "reopen" | "close" | "read"; index: number };
const steps = fc.array(
  fc.record<Step>({ kind: fc.constantFrom("start", "start", "reopen", "close", "read"), index: fc.nat({ max: 20 }) }),
  { maxLength: 25 },
);

test("what one session has read counts in every open one of its family, and from then on in each when it is alone", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      const all = [await start()];
      /** Members that must be tainted: all that were open with a tainted one of their family. */
      const tainted = new Set<Member>();
      for (const { kind, index } of list) {
        const member = all[index % all.length]!;
        const isOpen = member.taint !== undefined;
        if (kind === "start" && isOpen) all.push(await start(member));
        if (kind === "read" && isOpen) {
          await member.taint!.add(taint);
          tainted.add(member);
        }
        if (kind === "close") close(member, all);
        if (kind === "reopen") {
          close(member, all);
          await open(member);
        }
        spread(all, tainted);
        for (const each of all) {
          if (!each.taint) continue;
          expect((await each.taint.get()) !== undefined).toBe(tainted.has(each));
          // Alone, with nothing but its own log.
          const alone = new SessionTaint({ rules, cwd: "/work", log: each.log });
          expect((await alone.get()) !== undefined).toBe(tainted.has(each));
          expect(each.log.entries.length).toBeLessThanOrEqual(1);
        }
      }
    }),
    { numRuns: 300 },
  );
});

/** Says it in the simplest way: as long as an open session has a tainted open parent or child, it is tainted. */
function spread(all: readonly Member[], tainted: Set<Member>): void {
  for (let before = -1; before !== tainted.size;) {
    before = tainted.size;
    for (const child of all) {
      const { parent } = child;
      if (!parent?.taint || !child.taint) continue;
      if (tainted.has(parent)) tainted.add(child);
      else if (tainted.has(child)) tainted.add(parent);
    }
  }
}

test("calls that bring something in at the same time are written once", async () => {
  const parent = await start();
  const child = await start(parent);
  await Promise.all([parent, child, parent, child].map((member) => member.taint!.add(taint)));
  expect([parent, child].map(({ log }) => log.entries.length)).toEqual([1, 1]);
});

test("what could not be written is refused, counts at once, and is written with the next call", async () => {
  const member = await start();
  member.log.fails = 1;
  await expect(member.taint!.add(taint)).rejects.toThrow("The disk is full.");
  expect(await member.taint!.get()).toEqual(taint);
  await member.taint!.add({ source: "network", detail: "wget" });
  expect(member.log.entries).toMatchObject([{ data: taint }]);
});

test("a call is refused when it is not in the log of the parent", async () => {
  const parent = await start();
  const child = await start(parent);
  parent.log.fails = 1;
  await expect(child.taint!.add(taint)).rejects.toThrow("The disk is full.");
  expect(await parent.taint!.get()).toEqual(taint);
});

test("a child that has read something alone tells its parent when it is opened below it", async () => {
  const parent = await start();
  const child = await start(parent);
  close(parent, [parent, child]);
  await open(child);
  await child.taint!.add(taint);
  await open(parent);
  expect(await parent.taint!.get()).toBeUndefined();
  child.taint!.close();
  await open(child);
  expect(await parent.taint!.get()).toEqual(taint);
  expect(parent.log.entries).toMatchObject([{ data: taint }]);
});

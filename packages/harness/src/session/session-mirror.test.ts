import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Durability } from "./append-queue.ts";
import { SessionManager } from "./session-manager.ts";
import { createSessionMirror } from "./session-mirror.ts";

async function open(isInMemory: boolean, durability: Durability = "strict") {
  const directory = await mkdtemp(join(tmpdir(), "tau-mirror-"));
  const options = { agentDir: directory, durability };
  const session = isInMemory
    ? await SessionManager.inMemory(directory, options)
    : await SessionManager.create(directory, join(directory, "sessions"), options);
  onTestFinished(async () => {
    await session.close();
    await rm(directory, { recursive: true, force: true });
  });
  return { session, mirror: await createSessionMirror(session), directory };
}

test.each([true, false])(
  "says at once what the session says, before and after it is read (in memory: %s)",
  async (isInMemory) => {
    const { session, mirror } = await open(isInMemory);
    expect([mirror.getEntries(), mirror.getBranch(), mirror.getLeafId(), mirror.getTree()]).toEqual([[], [], null, []]);
    const first = await session.appendMessage({ role: "user", content: "one", timestamp: 1 });
    const second = await session.appendMessage({ role: "user", content: "two", timestamp: 2 });
    await session.navigate(first);
    const third = await session.appendMessage({ role: "user", content: "three", timestamp: 3 });
    await session.appendLabelChange(first, "start");
    await session.appendSessionInfo("a name");
    const late = await createSessionMirror(session);
    for (const reader of [mirror, late]) {
      expect(reader.getEntries()).toEqual(await session.getEntries());
      expect(reader.getBranch()).toEqual(await session.getBranch());
      expect(reader.getBranch(second).map(({ id }) => id)).toEqual([first, second]);
      expect(reader.getEntry(third)).toEqual(await session.getEntry(third));
      expect(reader.getLeafId()).toBe(session.getLeafId());
      expect(reader.getLabel(first)).toBe("start");
      expect(reader.getSessionName()).toBe("a name");
      expect(reader.buildSessionContext().messages).toEqual((await session.buildContext()).messages);
      const [root] = reader.getTree();
      expect(root?.children.map(({ entry }) => entry.id)).toContain(second);
      expect(reader.isPersisted()).toBe(!isInMemory);
    }
  },
);

test("has entries that were appended but are not in the file yet", async () => {
  const { session, mirror } = await open(false, "none");
  for (const content of ["one", "two"]) await session.appendMessage({ role: "user", content, timestamp: 1 });
  expect(mirror.getBranch()).toEqual(await session.getBranch());
  expect(mirror.getEntries()).toHaveLength(2);
});

test("lists the entries of the context after a compaction, and the messages of each", async () => {
  const { session, mirror } = await open(true);
  await session.appendMessage({ role: "user", content: "summed up", timestamp: 1 });
  const kept = await session.appendMessage({ role: "user", content: "kept", timestamp: 2 });
  const compaction = await session.appendCompaction("In short.", kept, 9);
  const name = await session.appendSessionInfo("a name");
  const last = await session.appendMessage({ role: "user", content: "last", timestamp: 3 });
  expect(mirror.buildContextEntries().map(({ id }) => id)).toEqual([compaction, kept, name, last]);
  const { entries, messages } = mirror.buildSessionProjection();
  expect(entries.map(({ sourceEntry, messages: own }) => [sourceEntry.id, own.length])).toEqual([
    [compaction, 1],
    [kept, 1],
    [name, 0],
    [last, 1],
  ]);
  expect(messages).toEqual(entries.flatMap(({ messages: own }) => own));
  expect(messages).toEqual(mirror.buildSessionContext().messages);
});

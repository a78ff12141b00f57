/** The cases of `storageContract` that are about sessions: laws 3 and 5 of the design hold wherever their logs are. */
import assert from "node:assert/strict";
import { emptyView, reduce, viewFromEntries } from "@tau/protocol";
import type { Storage } from "@tau/tools/storage";
import { closeAfter } from "@tau/ai/internal";
import { call, text } from "@tau/ai/testing";
import { SessionManager } from "../session/session-manager.ts";
import { toSessionKey } from "../session/stored-session.ts";
import type { LogCase } from "./storage-log-cases.ts";
import { createTestSession } from "./test-session.ts";

const cwd = "/work";

export function listSessionCases(): LogCase[] {
  const cases: LogCase[] = [];
  const add = (law: string, run: LogCase[1]) => cases.push([law, run]);

  add(
    "what was said in a session is read by the next process, in its lines and in its order",
    async ({ openStorage }) => {
      const id = await createSession(await openStorage(), ["one", "two", "three"]);
      const storage = await openStorage();
      const session = await SessionManager.openStored(id, { storage });
      await closeAfter(session, async () => {
        assert.equal(session.readOnly, undefined);
        assert.deepEqual(await listTexts(session), ["one", "two", "three"]);
        await session.appendMessage(user("four"));
      });
      const info = await SessionManager.describeStored(id, storage);
      assert.deepEqual([info?.id, info?.messageCount, info?.firstMessage], [id, 4, "one"]);
    },
  );

  add("a session that another process writes is opened for reading only", async ({ openStorage }) => {
    const id = await createSession(await openStorage(), ["one"]);
    const writer = await SessionManager.openStored(id, { storage: await openStorage() });
    await closeAfter(writer, async () => {
      const reader = await SessionManager.openStored(id, { storage: await openStorage() });
      await closeAfter(reader, async () => {
        assert.equal(reader.readOnly?.reason, "held");
        assert.deepEqual(await listTexts(reader), ["one"]);
      });
      await writer.appendMessage(user("two"));
    });
  });

  add("a branch is a session of its own in the same storage", async ({ openStorage }) => {
    const storage = await openStorage();
    const session = await SessionManager.create(cwd, undefined, { storage });
    const branchId = await closeAfter(session, async () => {
      const first = await session.appendMessage(user("one"));
      await session.appendMessage(user("two"));
      const branch = await session.branchSession(session.id, first);
      return await closeAfter(branch, async () => branch.id);
    });
    const branch = await SessionManager.openStored(branchId, { storage: await openStorage() });
    await closeAfter(branch, async () => {
      assert.deepEqual(await listTexts(branch), ["one"]);
      assert.equal(branch.parentId, session.id);
    });
    assert.equal((await storage.list("session")).length, 2);
  });

  add("a long result is kept with its session, also for a session that was branched off", async ({ openStorage }) => {
    const session = await SessionManager.create(cwd, undefined, { storage: await openStorage() });
    const branchId = await closeAfter(session, async () => {
      const first = await session.appendMessage(user("one"));
      await session.writeBlob("result-1.txt", Buffer.from("all of it"));
      const branch = await session.branchSession(session.id, first);
      return await closeAfter(branch, async () => branch.id);
    });
    for (const id of [session.id, branchId]) {
      const next = await SessionManager.openStored(id, { storage: await openStorage() });
      await closeAfter(next, async () => {
        assert.equal((await next.readBlob("result-1.txt"))?.toString(), "all of it");
        assert.equal(await next.readBlob("result-2.txt"), undefined);
      });
    }
    const other = await createSession(await openStorage(), ["one"]);
    const stranger = await SessionManager.openStored(other, { storage: await openStorage() });
    await closeAfter(stranger, async () => assert.equal(await stranger.readBlob("result-1.txt"), undefined));
  });

  add("law 5: any prefix of a log opens as a session, and every whole line in it is there", async ({ openStorage }) => {
    const storage = await openStorage();
    const said = ["one", "zwö", "three"];
    const id = await createSession(storage, said);
    const bytes = await readLog(storage, id);
    const ends = [...bytes.entries()].filter(([, byte]) => byte === 0x0a).map(([index]) => index + 1);
    // Each boundary of a line with its neighbours, and places between them.
    const lengths = new Set(ends.flatMap((end) => [end - 40, end - 2, end - 1, end, end + 1]));
    for (const length of [...lengths].filter((each) => each <= bytes.length)) {
      const cutId = `cut-${length}`;
      const store = await storage.open(toSessionKey(cutId));
      assert.equal((await store.append(bytes.subarray(0, length), { position: 0, sync: true })).kind, "appended");
      await store.close();
      // The header comes first. A line without its line feed is whole.
      const whole = ends.slice(1).filter((end) => end - 1 <= length).length;
      const session = await SessionManager.openStored(cutId, { storage });
      await closeAfter(session, async () => {
        assert.deepEqual(
          await listTexts(session),
          said.slice(0, whole),
          `the first ${length} of ${bytes.length} bytes`,
        );
        await session.appendMessage(user("next"));
      });
      const again = await SessionManager.openStored(cutId, { storage });
      await closeAfter(again, async () =>
        assert.deepEqual(await listTexts(again), [...said.slice(0, whole), "next"], `${length} bytes, continued`),
      );
    }
  });

  add(
    "law 3: reducing all events of a run equals the state that the next process reads from the log",
    async ({ openStorage }) => {
      const storage = await openStorage();
      const sessionManager = await SessionManager.create(cwd, undefined, { storage });
      const { prompt, events, dispose } = await createTestSession(
        [[call("write", { path: "notes.md", content: "one" })], [text("Done.")]],
        { sessionManager },
      );
      await closeAfter({ close: dispose }, () => prompt("write a note"));
      const next = await SessionManager.openStored(sessionManager.id, { storage: await openStorage() });
      const stored = viewFromEntries(await closeAfter(next, () => next.getEntries()));
      assert.ok(stored.log.entries.length >= 4, "the call, its result and the answer are stored");
      assert.deepEqual(events.reduce(reduce, emptyView).log, stored.log);
    },
  );

  return cases;
}

const user = (content: string) => ({ role: "user", content, timestamp: 1 }) as const;

async function createSession(storage: Storage, texts: readonly string[]): Promise<string> {
  const session = await SessionManager.create(cwd, undefined, { storage });
  return await closeAfter(session, async () => {
    for (const each of texts) await session.appendMessage(user(each));
    return session.id;
  });
}

async function readLog(storage: Storage, id: string): Promise<Buffer> {
  const store = await storage.open(toSessionKey(id));
  return await closeAfter(store, async () => await store.read(0, (await store.stat())!.size));
}

async function listTexts(session: SessionManager): Promise<unknown[]> {
  const entries = await session.getEntries();
  return entries.flatMap((entry) =>
    entry.type === "message" && "content" in entry.message ? [entry.message.content] : [],
  );
}

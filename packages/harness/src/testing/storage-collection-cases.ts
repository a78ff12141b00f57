/** The cases of `storageContract` that are about leases, replacements, blobs and the list of logs. */
import assert from "node:assert/strict";
import type { LogCase } from "./storage-log-cases.ts";
import { append, contractKey, getText } from "./storage-place.ts";

export function listCollectionCases(): LogCase[] {
  const cases: LogCase[] = [];
  const add = (law: string, run: LogCase[1]) => cases.push([law, run]);

  add(
    "of many writers that append at the same position at once, one is acknowledged, and its bytes are there",
    async ({ open }) => {
      const first = await open();
      await append(first, "begun\n", 0);
      await first.close();
      const stores = await Promise.all(Array.from({ length: 6 }, () => open()));
      const outcomes = await Promise.all(
        stores.map(async (store, index) => {
          const lease = await store.acquire().catch(() => undefined);
          return lease?.kind === "held" ? await append(store, `line ${index}\n`, 6) : undefined;
        }),
      );
      const winners = outcomes.flatMap((outcome, index) => (outcome?.kind === "appended" ? [index] : []));
      assert.equal(winners.length, 1, JSON.stringify(outcomes));
      assert.equal(await getText(await open()), `begun\nline ${winners[0]}\n`);
    },
  );

  add(
    "a lost writer's lease goes to the next with a higher generation, and the lost writer appends no more",
    async ({ open, abandon }) => {
      if (!abandon) return;
      const lost = await open();
      await append(lost, "one\n", 0);
      const before = await lost.acquire();
      await abandon();
      const next = await open();
      const after = await next.acquire();
      assert.ok(before.kind === "held" && after.kind === "held", "both have had the lease");
      assert.ok(after.generation > before.generation, `${after.generation} is after ${before.generation}`);
      assert.equal((await append(next, "two\n", 4)).kind, "appended");
      assert.equal((await append(lost, "late\n", 4)).kind, "overtaken");
      assert.equal((await append(lost, "late\n", 8)).kind, "overtaken");
      assert.notEqual((await lost.replace(Buffer.from("late\n"))).kind, "appended");
      // It gives back what it no longer has.
      await lost.close();
      assert.equal((await append(next, "three\n", 8)).kind, "appended");
      assert.equal((await (await open()).acquire()).kind, "busy");
      assert.equal(await getText(await open()), "one\ntwo\nthree\n");
    },
  );

  add("a replacement takes the place of all there was, keeps the lease, and is continued", async ({ open }) => {
    const store = await open();
    await append(store, "one\ntwo\n", 0);
    await store.acquire();
    const before = await store.stat();
    assert.deepEqual(await store.replace(Buffer.from("new\n")), { kind: "appended", position: 4 });
    assert.notEqual((await store.stat())?.identity, undefined);
    assert.ok(before !== undefined);
    assert.equal(await getText(store), "new\n");
    assert.deepEqual(await append(store, "next\n", 4), { kind: "appended", position: 9 });
    assert.equal((await (await open()).acquire()).kind, "busy");
    assert.equal(await getText(await open()), "new\nnext\n");
  });

  add("a log that does not exist begins with a replacement, also one of megabytes", async ({ open }) => {
    const store = await open();
    const bytes = Buffer.alloc(3 * 1024 * 1024, "0123456789abcde\n");
    assert.deepEqual(await store.replace(bytes), { kind: "appended", position: bytes.length });
    const other = await open();
    assert.ok((await other.read(0, bytes.length)).equals(bytes));
    assert.deepEqual(await append(store, "next\n", bytes.length), { kind: "appended", position: bytes.length + 5 });
  });

  add("blobs are kept with their log, byte by byte, and the last with a name is read", async ({ open }) => {
    const store = await open();
    await append(store, "one\n", 0);
    const bytes = Buffer.from(Array.from({ length: 256 }, (_unused, index) => index));
    const large = Buffer.alloc(2 * 1024 * 1024, bytes);
    await store.writeBlob("result-1.txt", Buffer.from("old"));
    await store.writeBlob("result-1.txt", bytes);
    await store.writeBlob("image.png", large);
    await store.writeBlob("empty", new Uint8Array());
    const other = await open();
    assert.ok((await other.readBlob("result-1.txt"))?.equals(bytes));
    assert.ok((await other.readBlob("image.png"))?.equals(large));
    assert.equal(await other.readBlob("missing"), undefined);
    assert.equal(await (await open("session/other")).readBlob("image.png"), undefined);
    assert.equal(await getText(other), "one\n");
    for (const name of ["", "..", "../up", "a/b", ".hidden", "x".repeat(129)])
      await assert.rejects(store.writeBlob(name, bytes), TypeError);
  });

  add("a list has each log of its collection that has begun, with its size", async ({ open, openStorage }) => {
    const listAll = async () => {
      const storage = await openStorage();
      const collections = (["session", "record", "gateway"] as const).map((each) => storage.list(each));
      return (await Promise.all(collections))
        .flat()
        .map(({ key, size }) => `${key} ${size}`)
        .toSorted();
    };
    assert.deepEqual(await listAll(), []);
    const names = ["session/one", "session/two.2", "record/audit", "gateway/inbox"] as const;
    for (const [index, key] of names.entries()) await append(await open(key), "x".repeat(index + 1), 0);
    await open("session/never-begun");
    const store = await open("session/one");
    await store.writeBlob("result-1.txt", Buffer.from("long"));
    assert.deepEqual(await listAll(), ["gateway/inbox 4", "record/audit 3", "session/one 1", "session/two.2 2"]);
    for (const { modifiedMs } of await (await openStorage()).list("session")) assert.ok(modifiedMs >= 0);
  });

  add("a log is removed with its blobs, but not while a writer has it", async ({ open, openStorage }) => {
    const storage = await openStorage();
    assert.deepEqual(await storage.remove(contractKey), { kind: "missing" });
    const store = await open();
    await append(store, "one\n", 0);
    await store.acquire();
    await store.writeBlob("result-1.txt", Buffer.from("long"));
    assert.equal((await storage.remove(contractKey)).kind, "busy");
    assert.equal(await getText(await open()), "one\n");
    await store.close();
    const reader = await open();
    assert.equal((await storage.remove(contractKey)).kind, "removed");
    assert.equal((await append(reader, "two\n", 4)).kind, "overtaken");
    await reader.close();
    assert.deepEqual(await storage.list("session"), []);
    const next = await open();
    assert.equal(await next.stat(), undefined);
    assert.equal(await next.readBlob("result-1.txt"), undefined);
    assert.deepEqual(await append(next, "new\n", 0), { kind: "appended", position: 4 });
  });

  return cases;
}

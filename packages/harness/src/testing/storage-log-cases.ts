/** The cases of `storageContract` that are about one log. */
import assert from "node:assert/strict";
import { append, type ContractPlace, getText } from "./storage-place.ts";

export type LogCase = readonly [law: string, run: (place: ContractPlace) => Promise<void>];

/** Laws of one log, whatever is stored in it. */
export function listLogCases(): LogCase[] {
  const cases: LogCase[] = [];
  const add = (law: string, run: LogCase[1]) => cases.push([law, run]);

  add("a log does not exist before the first append, but its lease can be acquired", async ({ open }) => {
    const store = await open();
    assert.ok(store.name.length > 0);
    assert.equal(await store.stat(), undefined);
    assert.equal((await store.acquire()).kind, "held");
    assert.equal((await store.read(0, 0)).length, 0);
    assert.equal(await store.readIndex(), undefined);
    await store.close();
    assert.equal(await (await open()).stat(), undefined);
  });

  add("appended bytes are read by this store and the next, with and without sync", async ({ open }) => {
    const store = await open();
    await store.acquire();
    assert.deepEqual(await append(store, "one\n", 0), { kind: "appended", position: 4 });
    assert.deepEqual(await append(store, "zwö\n", 4, false), { kind: "appended", position: 9 });
    assert.equal(await store.sync(), true);
    assert.equal(await getText(store), "one\nzwö\n");
    await store.close();
    const next = await open();
    await next.acquire();
    assert.equal(await getText(next), "one\nzwö\n");
    assert.deepEqual(await append(next, "three\n", 9), { kind: "appended", position: 15 });
    assert.equal(await getText(next), "one\nzwö\nthree\n");
  });

  add("any range can be read, and there is nothing after the end", async ({ open }) => {
    const store = await open();
    await append(store, "0123456789\n", 0);
    for (const [from, length, expected] of [
      [0, 3, "012"],
      [4, 5, "45678"],
      [9, 100, "9\n"],
      [11, 5, ""],
      [100, 5, ""],
      [3, 0, ""],
    ] as const) {
      assert.equal((await store.read(from, length)).toString(), expected, `${length} bytes from ${from}`);
    }
  });

  add("buffers that were read or appended are not shared with the caller", async ({ open }) => {
    const store = await open();
    const bytes = Buffer.from("mine\n");
    await store.append(bytes, { position: 0, sync: false });
    bytes.fill(0);
    const read = await store.read(0, 5);
    read.fill(0);
    assert.equal(await getText(store), "mine\n");
  });

  add("a megabyte is appended and read at once", async ({ open }) => {
    const store = await open();
    const bytes = Buffer.alloc(1024 * 1024, "0123456789abcdef");
    assert.equal((await store.append(bytes, { position: 0, sync: true })).kind, "appended");
    assert.ok((await store.read(0, bytes.length)).equals(bytes));
    assert.equal((await store.stat())?.size, bytes.length);
  });

  for (const position of [0, 3, 5, 1000]) {
    add(`an append at ${position} to a log of 4 bytes is overtaken, and so are all later appends`, async ({ open }) => {
      await append(await open(), "one\n", 0);
      const store = await open();
      await store.read(0, 4);
      const outcome = await append(store, "two\n", position);
      assert.equal(outcome.kind, "overtaken");
      assert.ok(outcome.kind === "overtaken" && outcome.reason.length > 0, "the outcome has a reason");
      assert.equal((await append(store, "two\n", 4)).kind, "overtaken");
      assert.equal(await getText(await open()), "one\n");
    });
  }

  add("another store without the lease is refused, or its write is detected and kept", async ({ open }) => {
    const holder = await open();
    await holder.acquire();
    await append(holder, "one\n", 0);
    const other = (await append(await open(), "other\n", 4)).kind;
    const isRefused = other === "overtaken";
    if (!isRefused) assert.equal(other, "appended");
    assert.equal((await append(holder, "two\n", 4)).kind, isRefused ? "appended" : "overtaken");
    assert.equal(await getText(await open()), isRefused ? "one\ntwo\n" : "one\nother\n");
  });

  add("of two stores that begin the same log, one succeeds", async ({ open }) => {
    const stores = [await open(), await open()];
    const kinds = [];
    for (const store of stores) {
      const lease = await store.acquire();
      kinds.push(lease.kind === "busy" ? "busy" : (await append(store, "begun\n", 0)).kind);
    }
    assert.equal(kinds[0], "appended");
    assert.notEqual(kinds[1], "appended");
    assert.equal(await getText(await open()), "begun\n");
  });

  add(
    "only one store holds the lease; the next one learns the holder, and acquires it after the first is closed",
    async ({ open }) => {
      const first = await open();
      await append(first, "one\n", 0);
      const held = await first.acquire();
      assert.equal(held.kind, "held");
      assert.deepEqual(await first.acquire(), held);
      const second = await open();
      const busy = await second.acquire();
      assert.equal(busy.kind, "busy");
      assert.ok(busy.kind === "busy" && busy.holder.name.length > 0, "the holder has a name");
      assert.equal(busy.kind === "busy" && busy.holder.generation, held.kind === "held" && held.generation);
      await second.close();
      assert.equal((await (await open()).acquire()).kind, "busy");
      await first.close();
      const third = await open();
      assert.equal((await third.acquire()).kind, "held");
      assert.equal((await append(third, "two\n", 4)).kind, "appended");
    },
  );

  add("bytes that are cut off are copied aside, and the log continues where it was cut", async ({ open }) => {
    const store = await open();
    await append(store, 'good\n{"torn', 0);
    const copy = await store.cut(5);
    assert.ok(copy.length > 0, "it returns where the copy is");
    assert.equal((await store.stat())?.size, 5);
    assert.deepEqual(await append(store, "next\n", 5), { kind: "appended", position: 10 });
    assert.equal(await getText(await open()), "good\nnext\n");
  });

  add("a log that was cut to nothing can be begun again", async ({ open }) => {
    const store = await open();
    await append(store, "torn", 0);
    await store.acquire();
    await store.cut(0);
    await store.close();
    const next = await open();
    await next.acquire();
    assert.deepEqual(await append(next, "new\n", 0), { kind: "appended", position: 4 });
    assert.equal(await getText(next), "new\n");
  });

  add("a log keeps its identity while it grows, for every store", async ({ open }) => {
    const store = await open();
    await append(store, "one\n", 0);
    const before = await store.stat();
    await append(store, "two\n", 4);
    const after = await (await open()).stat();
    assert.equal(before?.size, 4);
    assert.equal(after?.size, 8);
    assert.equal(after?.identity, before?.identity);
  });

  add("an index is the last that was written, or undefined", async ({ open }) => {
    const store = await open();
    await append(store, "one\n", 0);
    for (const text of ["first", "second"]) {
      await store.writeIndex(Buffer.from(text));
      const index = await store.readIndex();
      assert.ok(index === undefined || index.toString() === text);
    }
    assert.equal(await getText(store), "one\n");
  });

  add("a closed store refuses appends, and may be closed again", async ({ open }) => {
    const store = await open();
    await append(store, "one\n", 0);
    await store.close();
    await store.close();
    const outcome = await append(store, "two\n", 4);
    assert.deepEqual(outcome.kind === "failed" && outcome.canRetry, false);
    assert.equal(await getText(await open()), "one\n");
  });

  return cases;
}

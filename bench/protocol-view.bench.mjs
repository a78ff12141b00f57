/**
 * The view that every surface draws: what an event costs, and what the view holds, must not grow with the session.
 * Limits: 200 ms for 100,000 entries, 2 µs for a delta at any size, and no growth of the heap.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { emptyView, reduce } from "@tau/protocol";
import { cpuSince } from "./memory-model.mjs";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

const entryCount = 100_000;
const deltaCount = 200_000;
const sizes = [10, 1_000, 100_000];
const rounds = 7;

const start = { type: "message_start", messageId: "m", role: "assistant", model: "bench", usage: { inputTokens: 0 } };
const delta = { type: "text_delta", messageId: "m", delta: "word ", index: 0 };

export default async function bench(report) {
  const events = Array.from({ length: entryCount }, (_unused, index) => createEvent(index));
  const entries = best(() => events.reduce(reduce, emptyView));
  report("100,000 entries", entries / 1_000, "ms of CPU");
  for (const size of sizes) {
    const view = reduce(events.slice(0, size).reduce(reduce, emptyView), start);
    const deltas = best(() => {
      let next = view;
      for (let count = 0; count < deltaCount; count++) next = reduce(next, delta);
      if (next.live.message.text.length !== deltaCount * delta.delta.length) throw new Error("A delta was lost.");
    });
    report(`a text delta after ${size.toLocaleString("en")} entries`, deltas / deltaCount, "µs of CPU");
  }
  events.length = 0;
  // Once unmeasured: the compiler's own memory is not the view's.
  measureHeap(entryCount);
  const [small, large] = [measureHeap(1_000), measureHeap(entryCount)];
  report("heap of the view after 1,000 entries", small / 1024, "KiB");
  report("heap of the view after 100,000 entries", large / 1024, "KiB");
  report("heap, growth between them", (large - small) / 1024, "KiB");
}

/** A message of about a kilobyte, as they are in a session. */
function createEvent(index) {
  const text = `${index} `.padEnd(1_000, "word ");
  return {
    type: "entry_appended",
    entry: {
      type: "message",
      id: String(index),
      parentId: index === 0 ? null : String(index - 1),
      timestamp: "2026-01-01T00:00:00.000Z",
      message: { role: "user", content: [{ type: "text", text }], timestamp: 1 },
    },
  };
}

/** CPU microseconds of the fastest round. */
function best(work) {
  let fastest = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const started = process.cpuUsage();
    work();
    fastest = Math.min(fastest, cpuSince(started));
  }
  return fastest;
}

/** Bytes that a view holds after so many entries, which nothing else holds. */
function measureHeap(count) {
  collect();
  const before = process.memoryUsage().heapUsed;
  let view = emptyView;
  for (let index = 0; index < count; index++) view = reduce(view, createEvent(index));
  collect();
  const bytes = process.memoryUsage().heapUsed - before;
  // The view is used after the measurement, so that it is not collected before.
  if (view.log.entryCount !== count) throw new Error("An entry was lost.");
  return bytes;
}

import { createFakeClock } from "@tau/ai/testing";
import { describe, expect, test } from "vitest";
import type { ExtensionEvent } from "../api/events.ts";
import { FrameReader } from "./frames.ts";
import { StreamBatch, type StreamListener } from "./stream-batch.ts";

function createListener(): StreamListener & { items: unknown[] } {
  const items: unknown[] = [];
  const reader = new FrameReader();
  return {
    items,
    write(frame) {
      for (const message of reader.push(frame)) items.push(...(message as { items: unknown[] }).items);
    },
  };
}

const update = (delta: string, text: string) =>
  ({
    type: "message_update",
    message: { role: "assistant", content: [{ type: "text", text }] },
    assistantMessageEvent: { type: "text_delta", contentIndex: 0, delta },
  }) as unknown as ExtensionEvent<"message_update">;

const whole = (delta: string, text: string) => ({
  step: { type: "text_delta", contentIndex: 0, delta },
  message: { role: "assistant", content: [{ type: "text", text }] },
});
const deltas = (...texts: string[]) => ({ type: "text_delta", contentIndex: 0, texts });

describe("StreamBatch", () => {
  test("takes an event once, however many extensions pass it on, and sends it to all that listen", async () => {
    const clock = createFakeClock();
    const batch = new StreamBatch(clock);
    const [first, second] = [createListener(), createListener()];
    for (const listener of [first, second]) batch.listen(listener, ["message_update"]);
    for (const event of [update("a", "a"), update("b", "ab"), update("c", "abc")]) {
      batch.push(event);
      batch.push(event);
    }
    expect(first.items).toEqual([]);
    await clock.advance(16);
    expect(first.items).toEqual([whole("a", "a"), deltas("b", "c")]);
    expect(second.items).toEqual(first.items);
  });

  test("a listener that comes later gets the whole message first, and nothing of before", () => {
    const batch = new StreamBatch(createFakeClock());
    const [first, second] = [createListener(), createListener()];
    batch.listen(first, ["message_update"]);
    batch.push(update("a", "a"));
    batch.push(update("b", "ab"));
    batch.listen(second, ["message_update"]);
    batch.push(update("c", "abc"));
    batch.flush();
    expect(first.items).toEqual([whole("a", "a"), deltas("b"), whole("c", "abc")]);
    expect(second.items).toEqual([whole("c", "abc")]);
  });

  test("a listener that asks again misses nothing", () => {
    const batch = new StreamBatch(createFakeClock());
    const listener = createListener();
    batch.listen(listener, ["message_update"]);
    batch.push(update("a", "a"));
    batch.listen(listener, ["message_update", "tool_execution_update"]);
    batch.push(update("b", "ab"));
    batch.flush();
    expect(listener.items).toEqual([whole("a", "a"), whole("b", "ab")]);
  });

  test("a listener gets the names that it asked for last, and nothing once it was removed", () => {
    const batch = new StreamBatch(createFakeClock());
    const listener = createListener();
    batch.listen(listener, ["message_update"]);
    batch.listen(listener, ["tool_execution_update"]);
    batch.push(update("a", "a"));
    batch.flush();
    expect(listener.items).toEqual([]);
    batch.listen(listener, ["message_update"]);
    batch.push(update("b", "ab"));
    batch.flush();
    expect(listener.items).toEqual([whole("b", "ab")]);
    batch.remove(listener);
    batch.push(update("c", "abc"));
    batch.flush();
    expect(listener.items).toHaveLength(1);
  });

  test("an event that is too large for a message is left out, and the next one brings the whole message", async () => {
    const clock = createFakeClock();
    const batch = new StreamBatch(clock);
    const listener = createListener();
    batch.listen(listener, ["message_update"]);
    batch.push(update("a", "a"));
    // Three bytes for each.
    batch.push(update("€".repeat(11 * 1024 * 1024), "a€"));
    await clock.advance(16);
    batch.push(update("b", "a€b"));
    await clock.advance(16);
    expect(listener.items).toEqual([whole("a", "a"), whole("b", "a€b")]);
  });

  test("events that are too large together arrive one by one", () => {
    const batch = new StreamBatch(createFakeClock());
    const frames: Buffer[] = [];
    batch.listen({ write: (frame) => void frames.push(frame) }, ["tool_execution_update"]);
    const partialResult = "x".repeat(17 * 1024 * 1024);
    for (const toolCallId of ["one", "two"])
      batch.push({ type: "tool_execution_update", toolCallId, partialResult } as unknown as ExtensionEvent);
    batch.flush();
    expect(frames.map((frame) => /"toolCallId":"(\w+)"/.exec(frame.toString("latin1", 0, 200))?.[1])).toEqual([
      "one",
      "two",
    ]);
  });
});

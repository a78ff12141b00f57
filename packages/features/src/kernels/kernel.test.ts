/** A kernel without a process: its limits and its end. */
import { createFakeClock } from "@tau/ai/testing";
import { expect, test } from "vitest";
import { KernelId } from "./ipc.ts";
import { type CellOptions, Kernel, type KernelOptions } from "./kernel.ts";

function open(changes: Partial<KernelOptions> = {}) {
  const clock = createFakeClock();
  const sent: string[] = [];
  const kernel = new Kernel({
    id: KernelId.Python,
    clock,
    idleMs: 1_000_000,
    async start(events) {
      events.onMessage({ type: "Ready" });
      return {
        send(type, { id }) {
          sent.push(type);
          if (type === "Interrupt") events.onMessage({ type: "Done", done: { id: String(id), status: "interrupted" } });
        },
        exit: new Promise(() => {}),
        drain: async () => {},
        end: async () => {},
      };
    },
    onRegister: () => undefined,
    getPersonWaitMs: () => 0,
    onEnd: () => {},
    ...changes,
  });
  return { kernel, clock, sent };
}

const cell = (changes: Partial<CellOptions> = {}): CellOptions => ({
  code: "",
  timeoutMs: 300,
  signal: undefined,
  onOutput: () => {},
  answer: async () => undefined,
  ...changes,
});

test("the time in which a person is asked does not count for the limit of a cell", async () => {
  let waitedMs = 1_000;
  const { kernel, clock, sent } = open({ getPersonWaitMs: () => waitedMs });
  const running = kernel.run(cell());
  await expect.poll(() => sent).toEqual(["Cell"]);
  waitedMs += 200;
  await clock.advance(300);
  await clock.advance(199);
  expect(sent).toEqual(["Cell"]);
  await clock.advance(1);
  expect(await running).toMatchObject({ kind: "interrupted", by: "timeout" });
});

test("a kernel that cannot be started has ended, and does not wait for anything", async () => {
  const ends: string[] = [];
  const start = () => Promise.reject(new Error("The sandbox refuses it."));
  const { kernel } = open({ start, onEnd: (reason) => void ends.push(reason) });
  await expect(kernel.run(cell())).rejects.toThrow("The sandbox refuses it.");
  expect(kernel.hasEnded).toBe(true);
  expect(ends).toEqual(["The sandbox refuses it."]);
});

test("a call that was aborted before it reaches the kernel is not made", async () => {
  const { kernel, sent } = open();
  await kernel.open();
  const bridge = kernel.bridge(async () => undefined, AbortSignal.abort());
  await expect(bridge.invokeTool("wait", {})).rejects.toMatchObject({ kind: "aborted" });
  expect(sent).toEqual([]);
});

test("a cell that is aborted at once ends only a kernel that starts for it", async () => {
  const { kernel } = open();
  await kernel.open();
  expect(await kernel.run(cell({ signal: AbortSignal.abort() }))).toMatchObject({
    kind: "interrupted",
    hasEnded: false,
  });
  expect(kernel.hasEnded).toBe(false);
});

test("a kernel that never becomes ready is ended with the cell that waits for it", async () => {
  const ended: string[] = [];
  const start = async () => ({
    send: () => {},
    exit: new Promise<string>(() => {}),
    drain: async () => {},
    end: async () => void ended.push("ended"),
  });
  const { kernel } = open({ start });
  const abort = new AbortController();
  const running = kernel.run(cell({ signal: abort.signal }));
  abort.abort();
  expect(await running).toMatchObject({ kind: "interrupted", by: "abort", hasEnded: true });
  expect(ended).toEqual(["ended"]);
});

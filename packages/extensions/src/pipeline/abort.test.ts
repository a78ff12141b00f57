import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { abortableTools } from "./abort.ts";
import type { PipelineInput, PipelineTool } from "./layer.ts";

type Execute = PipelineTool["execute"];

const createCallContext = (toolCallId: string) => ({ toolCallId });

const wrap = (session: AbortSignal, execute: Execute): PipelineTool => {
  const tool = { name: "work", label: "Work", description: "", parameters: { type: "object" }, execute };
  return abortableTools([tool], { signal: session, createCallContext } as unknown as PipelineInput)[0]!;
};

const untilAborted: Execute = (_id, _args, signal) =>
  new Promise((_resolve, reject) => {
    signal!.addEventListener("abort", () => reject(signal!.reason as Error), { once: true });
  });

const listeners = (signal: AbortSignal) => getEventListeners(signal, "abort").length;

describe("a call", () => {
  test.each(["session", "call"] as const)(
    "is aborted by its %s, with the reason, and the other is left alone",
    async (by) => {
      const both = { session: new AbortController(), call: new AbortController() };
      const running = wrap(both.session.signal, untilAborted).execute("1", {}, both.call.signal);
      both[by].abort(new Error(`the ${by} is over`));
      await expect(running).rejects.toThrow(`the ${by} is over`);
      expect(both[by === "session" ? "call" : "session"].signal.aborted).toBe(false);
      expect([listeners(both.session.signal), listeners(both.call.signal)]).toEqual([0, 0]);
    },
  );

  test("hears of the end of its session after other calls have come and gone", async () => {
    const session = new AbortController();
    const call = new AbortController();
    const quick = wrap(session.signal, async () => ({ content: [] }));
    const slow = wrap(session.signal, untilAborted);
    await quick.execute("1", {}, call.signal);
    const running = [slow.execute("2", {}, call.signal), slow.execute("3", {}, call.signal)];
    await quick.execute("4", {}, call.signal);
    session.abort(new Error("over"));
    for (const one of running) await expect(one).rejects.toThrow("over");
    expect([listeners(session.signal), listeners(call.signal)]).toEqual([0, 0]);
  });

  test("has the session's signal where it has none of its own", async () => {
    const session = new AbortController();
    const running = wrap(session.signal, untilAborted).execute("1", {});
    session.abort(new Error("over"));
    await expect(running).rejects.toThrow("over");
    const same = new AbortController();
    const seen: unknown[] = [];
    const tool = wrap(same.signal, async (_id, _args, signal) => (seen.push(signal), { content: [] }));
    await tool.execute("1", {}, same.signal);
    expect(seen).toEqual([same.signal]);
  });

  test("is refused before it starts when its session has ended, or it was aborted", async () => {
    let started = 0;
    const execute: Execute = async () => (started++, { content: [] });
    const live = new AbortController().signal;
    const refusal = wrap(AbortSignal.abort("gone"), execute).execute("1", {}, live);
    await expect(refusal).rejects.toMatchObject({
      code: "aborted",
      message: "The session has ended; work was not started.",
      cause: "gone",
    });
    await expect(wrap(live, execute).execute("1", {}, AbortSignal.abort())).rejects.toThrow(
      /aborted before work started/,
    );
    expect(started).toBe(0);
  });

  test("gives what the tool gives: its result, its updates, its failure, also one that is thrown at once", async () => {
    const result = { content: [], details: { x: 1 } };
    const session = new AbortController();
    const call = new AbortController();
    const updates: unknown[] = [];
    const telling = wrap(session.signal, async (id, args, _signal, onUpdate) => {
      onUpdate?.({ content: [{ type: "text", text: `${id} ${args["x"]}` }] });
      return result;
    });
    expect(await telling.execute("7", { x: 1 }, call.signal, (update) => updates.push(update))).toBe(result);
    expect(updates).toEqual([{ content: [{ type: "text", text: "7 1" }] }]);
    const throwing = wrap(session.signal, () => {
      throw new Error("at once");
    });
    await expect(throwing.execute("1", {}, call.signal)).rejects.toThrow("at once");
    expect([listeners(session.signal), listeners(call.signal)]).toEqual([0, 0]);
  });

  test("has a context of its own, whatever the engine passes", async () => {
    const contexts: unknown[] = [];
    const tool = wrap(new AbortController().signal, async (_id, _args, _signal, _onUpdate, context) => {
      contexts.push(context);
      return { content: [] };
    });
    await Promise.all(["1", "2"].map((id) => tool.execute(id, {}, new AbortController().signal)));
    expect(contexts).toEqual([{ toolCallId: "1" }, { toolCallId: "2" }]);
  });

  test("leaves nothing on the signals, after ten thousand calls in a row and a thousand at once, without a warning", async () => {
    const warnings: unknown[] = [];
    const onWarning = (warning: unknown) => warnings.push(warning);
    process.on("warning", onWarning);
    const session = new AbortController();
    const call = new AbortController();
    let most = 0;
    const tool = wrap(session.signal, async () => {
      await Promise.resolve();
      most = Math.max(most, listeners(session.signal));
      return { content: [] };
    });
    for (let at = 0; at < 10_000; at++) await tool.execute("1", {}, call.signal);
    expect(most).toBe(1);
    await Promise.all(Array.from({ length: 1_000 }, () => tool.execute("1", {}, call.signal)));
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", onWarning);
    expect([listeners(session.signal), listeners(call.signal)]).toEqual([0, 0]);
    expect(warnings).toEqual([]);
  });
});

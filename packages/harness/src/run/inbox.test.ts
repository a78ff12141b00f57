import type { QueueMode } from "@tau/agent";
import type { ImageContent, TextContent, UserMessage } from "@tau/ai";
import { createFakeClock, text } from "@tau/ai/testing";
import type { QueuedMessage, SessionEntry } from "@tau/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { appendEvent } from "./record.ts";
import { SessionLog } from "../session/log.ts";
import { createMemoryStore, type LogStore } from "@tau/tools/storage";
import { Session } from "../session/session.ts";
import { createSequentialIds } from "../testing/index.ts";
import { Inbox, type QueueKind } from "./inbox.ts";

const image: ImageContent = { type: "image", data: "AA==", mimeType: "image/png" };

/** An inbox over a session in memory whose log refuses while `disk.isFull`. */
async function openInbox(mode: QueueMode = "one-at-a-time") {
  const memory = createMemoryStore();
  const disk = { isFull: false };
  const store: LogStore = {
    ...memory,
    append: async (...request) =>
      disk.isFull ? { kind: "failed", reason: "the disk is full", canRetry: true } : await memory.append(...request),
  };
  const clock = createFakeClock(1_000);
  const ids = createSequentialIds();
  const session = new Session({
    log: await SessionLog.open({ store }),
    header: { type: "session", version: 3, id: "s", timestamp: new Date(1_000).toISOString(), cwd: "/project" },
    clock,
    ids,
    leafId: null,
    lastActiveAt: 0,
  });
  let changes = 0;
  const inbox = new Inbox({ session, ids, now: () => clock.now(), mode: () => mode, onChange: () => changes++ });
  /** Writes messages into the log, as a run does. */
  const say = async (messages: readonly UserMessage[]) => {
    for (const message of messages) {
      await appendEvent(session, { type: "message_end", message }, { getQueueId: (said) => inbox.getId(said) });
      inbox.markSaid(message);
    }
  };
  const accept = (words: string, kind: QueueKind = "steer") => inbox.accept(kind, [text(words)]);
  const getOutcomes = async () => readOutcomes(await session.getEntries());
  return { inbox, session, disk, say, accept, getOutcomes, getChanges: () => changes };
}

/** Reads from the log what became of each message that was accepted, by its id. */
function readOutcomes(entries: readonly SessionEntry[]): Map<string, string[]> {
  const outcomes = new Map<string, string[]>();
  for (const entry of entries) {
    if (entry.type === "queue" && entry.state === "accepted") outcomes.set(entry.queueId, []);
    else if (entry.type === "queue") outcomes.get(entry.queueId)?.push(entry.state);
    else if (entry.type === "message" && entry.queueId !== undefined) outcomes.get(entry.queueId)?.push("said");
  }
  return outcomes;
}

const getWords = (messages: readonly { content: QueuedMessage["content"] }[]) =>
  messages.map(({ content }) => (content as [TextContent])[0].text);

describe("a message that is accepted", () => {
  test("is in the log before it is queued, and has no outcome yet", async () => {
    const { inbox, session, accept, getOutcomes } = await openInbox();
    let queuedWhenWritten: number | undefined;
    session.onAppend(() => (queuedWhenWritten = inbox.list("steer").length));
    const id = await accept("One.");
    expect(queuedWhenWritten).toBe(0);
    expect(inbox.list("steer")).toEqual([{ id, content: [text("One.")] }]);
    expect(inbox.has(id)).toBe(true);
    expect(await getOutcomes()).toEqual(new Map([[id, []]]));
  });

  test("is not accepted when the log refuses", async () => {
    const { inbox, disk, accept, getOutcomes, getChanges } = await openInbox();
    disk.isFull = true;
    await expect(accept("One.")).rejects.toMatchObject({ code: "write_failed" });
    expect(inbox.isEmpty).toBe(true);
    expect(getChanges()).toBe(0);
    expect(await getOutcomes()).toEqual(new Map());
  });

  test("is queued with its kind, oldest first", async () => {
    const { inbox, accept } = await openInbox();
    await accept("One.");
    await accept("Two.", "followUp");
    await accept("Three.");
    expect(getWords(inbox.list("steer"))).toEqual(["One.", "Three."]);
    expect(getWords(inbox.list("followUp"))).toEqual(["Two."]);
  });
});

describe("what is taken", () => {
  test.each<[QueueMode, taken: string[], left: string[]]>([
    ["one-at-a-time", ["One."], ["Two."]],
    ["all", ["One.", "Two."], []],
  ])("is what the mode says, of one kind: %s", async (mode, taken, left) => {
    const { inbox, accept } = await openInbox(mode);
    await accept("One.");
    await accept("Aside.", "followUp");
    await accept("Two.");
    expect(getWords(inbox.take("steer"))).toEqual(taken);
    expect(getWords(inbox.list("steer"))).toEqual(left);
    expect(getWords(inbox.list("followUp"))).toEqual(["Aside."]);
  });

  test("is a user message of now, known by its id until it is said", async () => {
    const { inbox, accept, say, getOutcomes } = await openInbox();
    const id = await accept("One.");
    const [message] = inbox.take("steer") as [UserMessage];
    expect(message).toEqual({ role: "user", content: [text("One.")], timestamp: 1_000 });
    expect(inbox.getId(message)).toBe(id);
    expect(inbox.has(id)).toBe(false);
    await say([message]);
    expect(inbox.getId(message)).toBeUndefined();
    expect(await getOutcomes()).toEqual(new Map([[id, ["said"]]]));
  });

  test("is nothing when nothing waits, and nothing has changed then", async () => {
    const { inbox, getChanges } = await openInbox();
    expect(inbox.take("steer")).toEqual([]);
    expect(getChanges()).toBe(0);
  });

  test("cannot be cancelled, refused or edited any more", async () => {
    const { inbox, accept, say, getOutcomes } = await openInbox();
    const id = await accept("One.");
    const taken = inbox.take("steer");
    expect(await inbox.cancel(id)).toBe(false);
    expect(await inbox.refuse("closed")).toEqual([]);
    await expect(inbox.edit(id, [text("Other.")])).rejects.toMatchObject({ code: "invalid_input" });
    await say(taken);
    expect(await getOutcomes()).toEqual(new Map([[id, ["said"]]]));
  });

  test("waits again before everything else when the log refused it, and is said once", async () => {
    const { inbox, disk, accept, say, getOutcomes } = await openInbox();
    const ids = [await accept("One."), await accept("Two.")];
    const taken = inbox.take("steer");
    disk.isFull = true;
    await expect(say(taken)).rejects.toMatchObject({ code: "write_failed" });
    inbox.takeBack();
    expect(getWords(inbox.list("steer"))).toEqual(["One.", "Two."]);
    disk.isFull = false;
    await say(inbox.take("steer"));
    await say(inbox.take("steer"));
    expect(await getOutcomes()).toEqual(new Map(ids.map((id) => [id, ["said"]])));
  });

  test("does not wait again when it was said", async () => {
    const { inbox, accept, say, getChanges } = await openInbox();
    await accept("One.");
    await say(inbox.take("steer"));
    const changes = getChanges();
    inbox.takeBack();
    expect(inbox.isEmpty).toBe(true);
    expect(getChanges()).toBe(changes);
  });
});

describe("what is dropped", () => {
  test("by its id is that alone, and only once", async () => {
    const { inbox, session, accept, getOutcomes } = await openInbox();
    const [one, two] = [await accept("One."), await accept("Two.")];
    expect(await inbox.cancel(one)).toBe(true);
    expect(getWords(inbox.list("steer"))).toEqual(["Two."]);
    expect(await inbox.cancel(one)).toBe(false);
    expect(await getOutcomes()).toEqual(
      new Map([
        [one, ["cancelled"]],
        [two, []],
      ]),
    );
    expect(await session.getLeafEntry()).toMatchObject({ state: "cancelled", reason: "cancelled by the person" });
  });

  test.each(["cancelled", "refused"] as const)("all at once is %s, of both kinds, with the reason", async (state) => {
    const { inbox, session, accept } = await openInbox();
    await accept("One.");
    await accept("Two.", "followUp");
    const reason = state === "cancelled" ? "cancelled by the person" : "why";
    const dropped = await (state === "cancelled" ? inbox.cancelAll() : inbox.refuse(reason));
    expect(getWords(dropped)).toEqual(["One.", "Two."]);
    expect(inbox.isEmpty).toBe(true);
    expect((await session.getEntries()).slice(-2)).toMatchObject([
      { state, reason },
      { state, reason },
    ]);
  });

  test("cannot be taken while that is being written", async () => {
    const { inbox, accept, getOutcomes } = await openInbox();
    const id = await accept("One.");
    const cancelled = inbox.cancelAll();
    expect(inbox.take("steer")).toEqual([]);
    await cancelled;
    expect(await getOutcomes()).toEqual(new Map([[id, ["cancelled"]]]));
  });

  test("waits again when the log refuses, without those that were written before", async () => {
    const { inbox, session, disk, accept, getOutcomes } = await openInbox();
    const ids = [await accept("One."), await accept("Two."), await accept("Three.")];
    session.onAppend(() => (disk.isFull = true));
    await expect(inbox.cancelAll()).rejects.toMatchObject({ code: "write_failed" });
    expect(getWords(inbox.list("steer"))).toEqual(["Two.", "Three."]);
    disk.isFull = false;
    expect(await inbox.cancel(ids[1]!)).toBe(true);
    expect(getWords(inbox.list("steer"))).toEqual(["Three."]);
    disk.isFull = false;
    expect(getWords(await inbox.refuse("closed"))).toEqual(["Three."]);
    expect(await getOutcomes()).toEqual(new Map(ids.map((id, index) => [id, [index === 2 ? "refused" : "cancelled"]])));
  });
});

describe("an edit", () => {
  test("keeps the kind, the place and what was attached, under a new id", async () => {
    const { inbox, session, accept, getOutcomes } = await openInbox();
    const first = await inbox.accept("steer", [text("One."), image]);
    const second = await accept("Two.");
    const edited = await inbox.edit(first, [text("First.")]);
    expect(inbox.list("steer")).toEqual([
      { id: edited, content: [text("First."), image] },
      { id: second, content: [text("Two.")] },
    ]);
    expect(await getOutcomes()).toEqual(
      new Map([
        [first, ["cancelled"]],
        [second, []],
        [edited, []],
      ]),
    );
    expect(await session.getLeafEntry()).toMatchObject({ queueId: first, reason: `replaced by ${edited}` });
  });

  test("is never without a message in the log: the new one is accepted before the old one is cancelled", async () => {
    const { inbox, session, accept } = await openInbox();
    const id = await accept("One.");
    const edited = await inbox.edit(id, [text("First.")]);
    const entries = (await session.getEntries()).slice(-2);
    expect(entries).toMatchObject([
      { queueId: edited, state: "accepted" },
      { queueId: id, state: "cancelled" },
    ]);
  });

  test("of a message that is not queued is refused, and writes nothing", async () => {
    const { inbox, session } = await openInbox();
    await expect(inbox.edit("q9", [text("First.")])).rejects.toMatchObject({ code: "invalid_input" });
    expect(session.getEntryCount()).toBe(0);
  });

  test("that comes too late is cancelled, and the message is said as it was", async () => {
    const { inbox, accept, say, getOutcomes } = await openInbox();
    const id = await accept("One.");
    const edited = inbox.edit(id, [text("First.")]);
    const taken = inbox.take("steer");
    await expect(edited).rejects.toMatchObject({ code: "invalid_input" });
    await say(taken);
    expect([...(await getOutcomes()).values()]).toEqual([["said"], ["cancelled"]]);
    expect(inbox.isEmpty).toBe(true);
  });

  test("that the log refuses leaves the message as it was", async () => {
    const { inbox, disk, accept } = await openInbox();
    const id = await accept("One.");
    disk.isFull = true;
    await expect(inbox.edit(id, [text("First.")])).rejects.toMatchObject({ code: "write_failed" });
    expect(inbox.list("steer")).toEqual([{ id, content: [text("One.")] }]);
  });

  test("that cannot be recorded as a whole leaves the old words where they were, under their id", async () => {
    const { inbox, session, disk, accept } = await openInbox();
    const id = await accept("Frist.");
    session.onAppend(({ type }) => (disk.isFull = type === "queue"));
    await expect(inbox.edit(id, [text("First.")])).rejects.toMatchObject({ code: "write_failed" });
    expect(inbox.list("steer")).toEqual([{ id, content: [text("Frist.")] }]);
    disk.isFull = false;
    expect(await inbox.cancel(id)).toBe(true);
  });
});

type Operation =
  | { kind: "accept"; queue: QueueKind }
  | { kind: "take"; queue: QueueKind }
  | { kind: "say" }
  | { kind: "take back" }
  | { kind: "cancel"; index: number | undefined }
  | { kind: "refuse" }
  | { kind: "edit"; index: number };

const queue = fc.constantFrom<QueueKind[]>("steer", "followUp");
const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("accept"), queue }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("take"), queue }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("say") }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("take back") }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("cancel"), index: fc.option(fc.nat(3), { nil: undefined }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("refuse") }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("edit"), index: fc.nat(3) }) },
);

/** Each operation, and whether the next one waits until it is done. */
const operations = fc.array(fc.tuple(operation, fc.boolean()), { maxLength: 25 });

/** Does what is drawn, several things at once, and then gives everything that is left an outcome. */
async function play(drawn: readonly (readonly [Operation, boolean])[], mode: QueueMode): Promise<SessionEntry[]> {
  const { inbox, session, say, accept } = await openInbox(mode);
  let taken: UserMessage[] = [];
  let accepted = 0;
  const findId = (index: number) => [...inbox.list("steer"), ...inbox.list("followUp")][index]?.id ?? "none";
  const perform = async (step: Operation): Promise<unknown> => {
    switch (step.kind) {
      case "accept":
        return await accept(String(++accepted), step.queue);
      case "take":
        return taken.push(...inbox.take(step.queue));
      case "say":
        return await say(taken.splice(0));
      case "take back":
        taken = [];
        return inbox.takeBack();
      case "cancel":
        return await (step.index === undefined ? inbox.cancelAll() : inbox.cancel(findId(step.index)));
      case "refuse":
        return await inbox.refuse("closed");
      case "edit":
        // One that comes too late, or is of nothing, rejects.
        return await inbox.edit(findId(step.index), [text("edited")]).catch(() => undefined);
      default:
        return step satisfies never;
    }
  };
  const pending: Promise<unknown>[] = [];
  for (const [step, isAwaited] of drawn) {
    const done = perform(step);
    pending.push(done);
    // A run takes messages back when it is over: then nothing of it is being written any more.
    if (isAwaited || step.kind === "say") await done;
  }
  await Promise.all(pending);
  await say(taken);
  await inbox.refuse("closed");
  expect(inbox.isEmpty).toBe(true);
  return await session.getEntries();
}

describe("for any operations at once", () => {
  const modes = fc.constantFrom<QueueMode[]>("all", "one-at-a-time");

  test("each accepted message has exactly one outcome", async () => {
    await fc.assert(
      fc.asyncProperty(operations, modes, async (drawn, mode) => {
        const outcomes = [...readOutcomes(await play(drawn, mode)).values()];
        expect(outcomes.filter((states) => states.length !== 1)).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  test("messages of one kind are said in the order of their places", async () => {
    await fc.assert(
      fc.asyncProperty(operations, modes, async (drawn, mode) => {
        const places = new Map<string, number>();
        const said: Record<QueueKind, number[]> = { steer: [], followUp: [] };
        const kinds = new Map<string, QueueKind>();
        const entries = await play(drawn, mode);
        for (const entry of entries) {
          if (entry.type === "queue" && entry.state === "accepted") {
            places.set(entry.queueId, places.size);
            kinds.set(entry.queueId, entry.kind);
          }
          const replacement =
            entry.type === "queue" && entry.state === "cancelled" && /^replaced by (.*)$/.exec(entry.reason);
          if (replacement) places.set(replacement[1]!, places.get(entry.queueId)!);
        }
        for (const entry of entries) {
          if (entry.type !== "message" || entry.queueId === undefined) continue;
          said[kinds.get(entry.queueId)!].push(places.get(entry.queueId)!);
        }
        for (const list of Object.values(said)) expect(list).toEqual(list.toSorted((a, b) => a - b));
      }),
      { numRuns: 200 },
    );
  });
});

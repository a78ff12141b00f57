/** A session that cannot be used for a while: what was accepted for it is not lost. */
import { createFakeClock, scriptedModel, text } from "@tau/ai/testing";
import { createMemoryStorage } from "@tau/harness/session";
import { expect, onTestFinished, test } from "vitest";
import { GatewayError } from "../errors.ts";
import { connectRaw, openTestGateway } from "../testing/index.ts";
import { openInboxStore } from "./inbox-store.ts";
import type { StoredMessage } from "./message.ts";
import { type MessageDraft, SessionInbox } from "./session-inbox.ts";
import { WaitingBytes } from "./waiting-bytes.ts";

const startMs = 1_000_000;
const ttlMs = 60_000;
const notNow = new GatewayError("unavailable", "The cluster does not answer. Try again.");

async function open() {
  const clock = createFakeClock(startMs);
  const model = scriptedModel(Array.from({ length: 5 }, () => [text("Answered.")]));
  const kit = await openTestGateway({ model, settings: { gateway: { queue: { ttlMs } } }, options: { clock } });
  onTestFinished(kit.close);
  const client = await connectRaw(kit.gateway.url, { token: kit.token });
  const { sessionId } = await client.must<{ sessionId: string }>("sessions.create", { cwd: kit.workspace });
  const { parts } = kit.gateway;
  const { hosted } = await parts.sessions.open(sessionId);
  const store = await openInboxStore(createMemoryStorage(), { clock });
  onTestFinished(() => store.close());
  /** Errors of the next attempts to open the session; undefined for one that succeeds. */
  const failures: (Error | undefined)[] = [];
  const tries: number[] = [];
  const logged: string[] = [];
  const givenUp: StoredMessage[] = [];
  const inbox = new SessionInbox(sessionId, {
    ...parts,
    store,
    openSession: async () => {
      tries.push(clock.now() - startMs);
      const failure = failures.shift();
      if (failure) throw failure;
      return { hosted };
    },
    onGivenUp: (message) => givenUp.push(message),
    onIdle: () => {},
    waitingBytes: new WaitingBytes(),
    log: (line) => logged.push(line),
  });
  onTestFinished(() => inbox.stop());
  const draft: MessageDraft = { sessionId, text: "Hello.", mode: "followup", origin: { kind: "client" } };
  /** Lets a message wait whose sender has got an answer. */
  const wait = async () => {
    await store.accept({ ...draft, id: "m", acceptedAt: clock.now(), state: "waiting" });
    inbox.wake();
    await inbox.settled();
  };
  const said = () => JSON.stringify(hosted.session.messages);
  return { clock, inbox, store, failures, tries, logged, givenUp, draft, wait, said };
}

test("a message waits while its session cannot be opened for a reason that passes, and is said then", async () => {
  const { clock, inbox, store, failures, tries, logged, givenUp, wait, said } = await open();
  failures.push(notNow, notNow, notNow);
  await wait();
  for (const ms of [999, 1, 2_000, 3_999]) {
    await clock.advance(ms);
    await inbox.settled();
  }
  expect([tries, said().includes("Hello."), logged.length]).toEqual([[0, 1_000, 3_000], false, 3]);
  await clock.advance(1);
  await expect.poll(said).toContain("Hello.");
  await expect.poll(() => store.messages.counts).toEqual({ waiting: 0, dead: 0 });
  expect(givenUp).toEqual([]);
});

test("a message that could not be said until it is too old is given up", async () => {
  const { clock, inbox, store, failures, givenUp, wait } = await open();
  failures.push(...Array.from({ length: 100 }, () => notNow));
  await wait();
  while (givenUp.length === 0 && clock.now() < startMs + 2 * ttlMs) {
    await clock.advance(1_000);
    await inbox.settled();
  }
  expect(givenUp).toMatchObject([{ id: "m", state: "dead", reason: notNow.message }]);
  expect(clock.now()).toBeGreaterThanOrEqual(startMs + ttlMs);
  expect(store.messages.counts).toEqual({ waiting: 0, dead: 1 });
});

test("a message that can never be said is given up at once", async () => {
  const { failures, givenUp, wait } = await open();
  failures.push(new GatewayError("not_found", "There is no such session."));
  await wait();
  expect(givenUp).toMatchObject([{ id: "m", state: "dead" }]);
});

test("who still waits for an answer is told that the session cannot be opened, and nothing is kept", async () => {
  const { inbox, store, failures, givenUp, draft } = await open();
  failures.push(undefined, notNow);
  await expect(inbox.accept(draft)).rejects.toBe(notNow);
  expect([store.messages.counts, givenUp]).toEqual([{ waiting: 0, dead: 0 }, []]);
});

import { createFakeClock, type FakeClock } from "@tau/ai/testing";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { getRetryDelayMs } from "../../src/client/backoff.ts";
import { type ClientState, GatewayClient, type GatewayClientOptions } from "../../src/client/index.ts";
import type { SessionEvent } from "../../src/index.ts";
import { FakeGateway } from "./fake-gateway.ts";

interface Setup {
  server: FakeGateway;
  clock: FakeClock;
  client: GatewayClient;
  states: ClientState[];
}

function setUp(options: Partial<GatewayClientOptions> = {}): Setup {
  const server = new FakeGateway();
  const clock = createFakeClock();
  let lastKey = 0;
  const client = new GatewayClient({
    url: "http://127.0.0.1:7433",
    deviceId: "local",
    key: "a token",
    clock,
    random: () => 0.5,
    ids: () => `key ${++lastKey}`,
    createSocket: server.connect,
    ...options,
  });
  const states: ClientState[] = [];
  client.onState((state) => states.push(state));
  onTestFinished(() => client.close());
  return { server, clock, client, states };
}

/** Lets everything happen. The clock moves only while the client waits: other threads compute proofs, and need real time. */
async function until({ client, clock }: Setup, isDone: () => boolean): Promise<void> {
  for (const startedMs = performance.now(); !isDone();) {
    if (performance.now() - startedMs > 45_000) throw new Error("What was waited for did not happen.");
    if (client.state.kind === "waiting") await clock.advance(1_000);
    else await new Promise((resolve) => setImmediate(resolve));
  }
}

const notice = (index: number): SessionEvent => ({ type: "notice", code: "n", message: String(index) });

type Step = { kind: "emit" } | { kind: "call" } | { kind: "cut" } | { kind: "restart" } | { kind: "pause" };
const step = fc.oneof(
  { weight: 5, arbitrary: fc.constant<Step>({ kind: "emit" }) },
  { weight: 3, arbitrary: fc.constant<Step>({ kind: "call" }) },
  fc.constantFrom<Step>({ kind: "cut" }, { kind: "restart" }, { kind: "pause" }),
);

test("after cuts at any frame the view has every event once, and every call had its effect once", async () => {
  const cuts = fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), cuts, async (steps, framesUntilCut) => {
      const setup = setUp();
      const { server, clock, client } = setup;
      server.cuts = [...framesUntilCut];
      let answers = 0;
      const seen: string[] = [];
      client.connect().catch(() => undefined);
      const session = client.session("s");
      session.onEvent(() => seen.push(JSON.stringify(session.position)));
      for (const [index, { kind }] of steps.entries()) {
        if (kind === "emit") server.emit(notice(index));
        if (kind === "call") void session.call("prompt", { message: String(index) }).then(() => answers++);
        if (kind === "cut") server.sockets.at(-1)?.cut();
        if (kind === "restart") server.restart();
        if (kind === "pause") await clock.advance(2_000);
      }
      const called = steps.flatMap(({ kind }, index) => (kind === "call" ? [String(index)] : []));
      await until(setup, () => answers === called.length && session.state.kind === "live");
      server.emit(notice(-1));
      await until(setup, () => JSON.stringify(session.view) === JSON.stringify(server.view));
      expect(server.prompts.toSorted()).toEqual(called.toSorted());
      expect(new Set(seen).size).toBe(seen.length);
      client.close();
    }),
    { numRuns: process.env["TAU_LONG"] ? 5_000 : 120 },
  );
});

test("an event that does not follow the last one makes the client ask for a snapshot", async () => {
  const setup = setUp();
  const { server, client } = setup;
  const session = client.session("s");
  await client.connect();
  await until(setup, () => session.state.kind === "live");
  server.emit(notice(1));
  server.sockets[0]!.isFollowing = false;
  server.emit(notice(2));
  server.sockets[0]!.isFollowing = true;
  server.emit(notice(3));
  await until(setup, () => session.view.live.notices.length === 3);
  expect(server.requests.filter(({ method }) => method === "sessions.subscribe").at(-1)!.params).not.toHaveProperty(
    "resume",
  );
});

test("a lost connection is tried again later and later, and once it is back the waiting is short again", async () => {
  const setup = setUp();
  const { server, clock, client, states } = setup;
  server.cuts = [0, 0, 0];
  const startedAt = clock.now();
  await expect(client.connect()).rejects.toMatchObject({ code: "unreachable" });
  await until(setup, () => client.state.kind === "open");
  const retries = states.flatMap((state) => (state.kind === "waiting" ? [state.retryAt] : []));
  expect(retries.map((retryAt, index) => retryAt - (retries[index - 1] ?? startedAt))).toEqual([375, 750, 1_500]);
  await clock.advance(10_000);
  server.sockets.at(-1)!.cut();
  expect(client.state).toMatchObject({ kind: "waiting", retryAt: clock.now() + 375 });
});

test("a device that is not known is refused, and what waits is told so", async () => {
  const setup = setUp();
  const { server, client } = setup;
  server.refusal = { code: "unauthorized", message: "The proof is not right.", retryable: false };
  const connected = client.connect();
  const answer = client.call("health");
  await expect(connected).rejects.toMatchObject({ code: "unauthorized" });
  await expect(answer).rejects.toMatchObject({ code: "unauthorized" });
  expect(client.state).toMatchObject({ kind: "refused", reason: { code: "unauthorized" } });
  server.refusal = undefined;
  client.wake();
  await until(setup, () => client.state.kind === "open");
});

test.each<[string, Partial<GatewayClientOptions>]>([
  ["a token that cannot be used", { key: "" }],
  [
    "a socket that cannot be created",
    {
      createSocket: () => {
        throw new Error("No sockets here.");
      },
    },
  ],
])("%s refuses the client, and what waits is told so", async (_name, options) => {
  const { client } = setUp(options);
  const connected = client.connect();
  const answer = client.call("health");
  await expect(connected).rejects.toMatchObject({ code: "unreachable", retryable: false });
  await expect(answer).rejects.toMatchObject({ code: "unreachable" });
  expect(client.state.kind).toBe("refused");
});

test("a gateway that asks for patience gets it", async () => {
  const setup = setUp();
  const { server, clock, client } = setup;
  server.refusal = { code: "rate_limited", message: "Too many.", retryable: true, retryAfterMs: 20_000 };
  await expect(client.connect()).rejects.toMatchObject({ code: "rate_limited" });
  expect(client.state).toMatchObject({ kind: "waiting", retryAt: clock.now() + 20_000 });
});

test("a gateway that speaks another version is refused before anything is proved to it", async () => {
  const setup = setUp();
  const { server, client } = setup;
  server.protocol = { min: 3, max: 4 };
  await expect(client.connect()).rejects.toMatchObject({ code: "version", message: expect.stringContaining("3 to 4") });
  expect(server.requests).toEqual([]);
});

test("a gateway that is gone without a word is noticed", async () => {
  const setup = setUp();
  const { server, clock, client } = setup;
  await client.connect();
  await clock.advance(60_000);
  expect(client.state.kind).toBe("open");
  expect(server.requests.filter(({ method }) => method === "health").length).toBeGreaterThan(2);
  server.sockets[0]!.isSilent = true;
  await clock.advance(26_000);
  await until(setup, () => server.sockets.length === 2 && client.state.kind === "open");
});

test("a request that is too large fails alone, and the connection stays", async () => {
  const setup = setUp();
  const { server, client } = setup;
  await client.connect();
  await expect(client.session("s").call("prompt", { message: "€".repeat(400) })).rejects.toMatchObject({
    code: "too_large",
  });
  await client.call("health");
  expect(server.sockets).toHaveLength(1);
});

test("a caller can give up, and a closed client answers nothing", async () => {
  const setup = setUp();
  const { client } = setup;
  const connected = client.connect();
  const abort = new AbortController();
  const answer = client.call("health", {}, { signal: abort.signal });
  abort.abort();
  await expect(answer).rejects.toMatchObject({ code: "aborted" });
  await connected;
  const other = client.call("health");
  client.close();
  await expect(other).rejects.toMatchObject({ code: "closed" });
  await expect(client.call("health")).rejects.toMatchObject({ code: "closed" });
});

test("a call that does not last is refused without a connection, and is not sent on the next one", async () => {
  const setup = setUp();
  const { server, client } = setup;
  const session = client.session("s");
  await client.connect();
  server.sockets[0]!.framesLeft = 0;
  await expect(session.call("abort", {}, { isLasting: false })).rejects.toMatchObject({ code: "disconnected" });
  expect(client.state.kind).toBe("waiting");
  await expect(session.call("abort", {}, { isLasting: false })).rejects.toMatchObject({ code: "disconnected" });
  await until(setup, () => session.state.kind === "live");
  expect(server.requests.filter(({ method }) => method === "session.abort")).toEqual([]);
});

test("waiting doubles up to half a minute, half of it by chance", () => {
  const rows = [1, 2, 5, 7, 20].map((failures) => [0, 0.999].map((random) => getRetryDelayMs({ failures, random })));
  expect(rows).toEqual([
    [250, 500],
    [500, 1_000],
    [4_000, 7_996],
    [15_000, 29_985],
    [15_000, 29_985],
  ]);
  expect(getRetryDelayMs({ failures: 1, random: 0, retryAfterMs: 9_000 })).toBe(9_000);
});

test("connecting again tells what the connection before it leaves behind", async () => {
  const setup = setUp();
  const { client, server } = setup;
  await client.connect();
  const session = client.session("s");
  await until(setup, () => session.state.kind === "live");
  server.sockets[0]!.isSilent = true;
  const abort = session.call("abort", {}, { isLasting: false });
  abort.catch(() => undefined);
  const connecting = client.connect();
  expect(session.state.kind).toBe("waiting");
  await expect(abort).rejects.toMatchObject({ code: "disconnected" });
  await connecting;
  await until(setup, () => session.state.kind === "live");
});

test("a session that is closed a second time does not end the next one", async () => {
  const setup = setUp();
  const { client, server } = setup;
  await client.connect();
  const first = client.session("s");
  first.close();
  const second = client.session("s");
  await until(setup, () => second.state.kind === "live");
  first.close();
  expect(client.session("s")).toBe(second);
  server.emit(notice(1));
  await until(setup, () => second.position?.seq === 1);
});

test("a key that cannot prove anything is a refusal", async () => {
  const verifying = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", new Uint8Array(32), verifying, false, ["verify"]);
  const { client } = setUp({ key });
  await expect(client.connect()).rejects.toMatchObject({ code: "no_proof", retryable: false });
  expect(client.state.kind).toBe("refused");
});

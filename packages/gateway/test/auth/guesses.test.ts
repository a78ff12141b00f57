import { createFakeClock } from "@tau/ai/testing";
import { createConnection } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { getLockMs, Guesses } from "../../src/auth/guesses.ts";
import { connectRaw, openTestGateway } from "../../src/testing/index.ts";
import { portOf } from "../server/raw-http.ts";

async function openGuessed() {
  const clock = createFakeClock();
  const opened = await openTestGateway({
    options: {
      clock,
      routes: [{ method: "GET", path: "/secret", auth: "read", run: () => ({ status: 200, body: {} }) }],
    },
  });
  onTestFinished(opened.close);
  return { ...opened, clock };
}

/** The statuses of many requests with these tokens, sent one behind the other. */
async function guess(port: number, tokens: readonly string[]): Promise<Map<number, number>> {
  const socket = createConnection(port, "127.0.0.1");
  const counts = new Map<number, number>();
  let received = "";
  let answered = 0;
  const done = new Promise<void>((resolve, reject) => {
    socket.on("error", reject);
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
      const matches = [...received.matchAll(/HTTP\/1\.1 (\d+) /g)];
      // The last may be only half there; what is behind the last complete line stays.
      for (const [, status] of matches) counts.set(Number(status), (counts.get(Number(status)) ?? 0) + 1);
      answered += matches.length;
      received = received.slice((matches.at(-1)?.index ?? -12) + 12);
      if (answered === tokens.length) resolve();
    });
  });
  const host = `127.0.0.1:${port}`;
  socket.write(
    tokens.map((token) => `GET /secret HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n\r\n`).join(""),
  );
  await done;
  socket.destroy();
  return counts;
}

test("of many guesses ten are answered, and the rest are told to wait", async () => {
  const count = process.env["TAU_LONG"] ? 10_000 : 1_000;
  const { gateway, token, logged } = await openGuessed();
  const port = portOf(gateway.url);
  const wrong = Array.from({ length: count }, (_unused, index) => `${index}`.padStart(43, "a"));
  const counts = await guess(port, wrong);
  expect([...counts].toSorted()).toEqual([
    [401, 10],
    [429, count - 10],
  ]);
  expect(logged).toEqual(["127.0.0.1 has shown 11 wrong tokens, and has to wait."]);
  // One that guesses does not keep others out who share its address.
  expect([...(await guess(port, [token]))]).toEqual([[200, 1]]);
  const client = await connectRaw(gateway.url, { token });
  client.close();
});

test("proofs and tokens count together, and each wrong one makes the wait longer", async () => {
  const { gateway, clock } = await openGuessed();
  await guess(
    portOf(gateway.url),
    Array.from({ length: 8 }, () => "wrong"),
  );
  const waits: unknown[] = [];
  for (let attempt = 0; attempt < 5; attempt++) {
    const failure = await connectRaw(gateway.url, { token: "wrong" }).catch((error: unknown) => error);
    waits.push((failure as { retryAfterMs?: number }).retryAfterMs ?? 0);
  }
  expect(waits).toEqual([0, 0, 1_000, 2_000, 4_000]);
  await clock.advance(15 * 60_000);
  const failure = await connectRaw(gateway.url, { token: "wrong" }).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: "unauthorized", retryable: false });
});

test("the wait grows to five minutes and no further", () => {
  expect([1, 10, 11, 12, 13, 30, 10_000].map(getLockMs)).toEqual([0, 0, 1_000, 2_000, 4_000, 300_000, 300_000]);
});

test("the addresses that are remembered are limited, and the oldest goes first", () => {
  const guesses = new Guesses(createFakeClock(), () => {});
  for (let count = 0; count < 11; count++) guesses.addWrong("guesser");
  for (let index = 0; index < 4_095; index++) guesses.addWrong(`10.0.${index >> 8}.${index & 255}`);
  expect(guesses.addWrong("guesser")).toBe(2_000);
  for (let index = 0; index < 4_096; index++) guesses.addWrong(`10.1.${index >> 8}.${index & 255}`);
  expect(guesses.addWrong("guesser")).toBe(0);
});

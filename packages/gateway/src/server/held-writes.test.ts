import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { createFakeClock } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { Rounds } from "../rounds.ts";
import { HeldWrites, holdMs } from "./held-writes.ts";

async function open() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [tcp] = (await once(server, "connection")) as [Socket];
  onTestFinished(() => {
    client.destroy();
    tcp.destroy();
    server.close();
  });
  let got = "";
  client.on("data", (chunk) => (got += chunk.toString()));
  const clock = createFakeClock();
  const held = new HeldWrites(tcp, new Rounds(clock, holdMs));
  const write = (text: string) => {
    tcp.write(text);
    held.hold();
  };
  return { tcp, held, write, clock, getGot: () => got };
}

test("the first frame goes out at once, and those after it together, for as long as they come", async () => {
  const { tcp, write, clock, getGot } = await open();
  write("a");
  expect(tcp.writableLength).toBe(0);
  write("b");
  await clock.advance(holdMs - 1);
  write("c");
  expect(tcp.writableLength).toBe(2);
  await clock.advance(1);
  expect(tcp.writableLength).toBe(0);
  write("d");
  expect(tcp.writableLength).toBe(1);
  await clock.advance(holdMs);
  expect(tcp.writableLength).toBe(0);
  // A round in which nothing came ends it.
  await clock.advance(holdMs);
  write("e");
  expect(tcp.writableLength).toBe(0);
  await expect.poll(getGot).toBe("abcde");
});

test("what waits goes out in its order with a frame that cannot wait", async () => {
  const { tcp, held, write, getGot } = await open();
  write("a");
  write("b");
  tcp.write("now");
  held.flush();
  expect(tcp.writableLength).toBe(0);
  await expect.poll(getGot).toBe("abnow");
});

test("a burst does not wait, so that its client does not look slow", async () => {
  const { tcp, write, getGot } = await open();
  let most = 0;
  for (let index = 0; index < 10_000; index++) {
    write("x");
    most = Math.max(most, tcp.writableLength);
  }
  expect(most).toBeLessThan(64);
  await expect.poll(() => getGot().length).toBeGreaterThan(9_900);
});

test("a connection that is gone is left alone", async () => {
  const { tcp, held, write, clock } = await open();
  write("a");
  write("b");
  tcp.destroy();
  await clock.advance(holdMs);
  held.flush();
  expect(tcp.destroyed).toBe(true);
});

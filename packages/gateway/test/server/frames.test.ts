/** Frames that no honest client sends. Each closes its own connection, with the code that says why, and nothing else. */
import { deflateRawSync } from "node:zlib";
import type { Socket } from "node:net";
import { createFakeClock, scriptedModel, text as say } from "@tau/ai/testing";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { chooseLeaving } from "../../src/server/sockets.ts";
import { connectRaw, openRaw, openTestGateway, type TestGateway } from "../../src/testing/index.ts";
import { openRawSocket, portOf } from "./raw-http.ts";

let opened: TestGateway;

beforeAll(async () => {
  opened = await openTestGateway({
    options: { serverLimits: { maxUnknownSocketsPerAddress: 1_000 } },
  });
});
afterAll(() => opened.close());

interface FrameOptions {
  fin?: boolean;
  opcode?: number;
  /** The bits that extensions use. */
  reserved?: number;
  masked?: boolean;
  /** The length that the frame names, if not the real one. */
  length?: number;
}

function frame(
  payload: Buffer,
  { fin = true, opcode = 1, reserved = 0, masked = true, length }: FrameOptions = {},
): Buffer {
  const size = length ?? payload.length;
  const first = (fin ? 0x80 : 0) | (reserved << 4) | opcode;
  const mask = masked ? 0x80 : 0;
  const head =
    size < 126
      ? Buffer.from([first, mask | size])
      : Buffer.from([first, mask | 127, ...Buffer.from(BigInt(size).toString(16).padStart(16, "0"), "hex")]);
  // A mask of zeros changes nothing.
  return Buffer.concat([head, masked ? Buffer.alloc(4) : Buffer.alloc(0), payload]);
}

/** The code that the connection was closed with; 0 if it was closed without one. */
function untilClosed(socket: Socket): Promise<number> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve) =>
    socket.once("close", () => {
      const bytes = Buffer.concat(chunks);
      const index = bytes.lastIndexOf(0x88);
      resolve(index < 0 ? 0 : bytes.readUInt16BE(index + 2));
    }),
  );
}

const text = (value: unknown) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
const request = { type: "req", id: "1", method: "health" };

const rows: [name: string, bytes: () => Buffer[], code: number][] = [
  ["a frame that says it is larger than the limit", () => [frame(Buffer.alloc(16), { length: 1024 * 1024 + 1 })], 1009],
  ["a frame that says it is endless", () => [frame(Buffer.alloc(16), { length: 2 ** 52 })], 1009],
  ["bytes that are not UTF-8", () => [frame(Buffer.from([0xff, 0xfe, 0xfd]))], 1007],
  ["half a character", () => [frame(Buffer.from([0xe2, 0x82]))], 1007],
  ["an overlong character", () => [frame(Buffer.from([0xc0, 0x80]))], 1007],
  [
    "a character cut by a fragment and never completed",
    () => [frame(Buffer.from([0xe2]), { fin: false }), frame(Buffer.from([0x41]), { opcode: 0 })],
    1007,
  ],
  ["a compressed frame", () => [frame(deflateRawSync(Buffer.alloc(1_000_000)), { reserved: 4 })], 1002],
  ["an unknown extension", () => [frame(text(request), { reserved: 1 })], 1002],
  ["an unknown kind of frame", () => [frame(text(request), { opcode: 3 })], 1002],
  ["a frame without a mask", () => [frame(text(request), { masked: false })], 1002],
  ["a continuation of nothing", () => [frame(text(request), { opcode: 0 })], 1002],
  ["a message inside another", () => [frame(text("{"), { fin: false }), frame(text(request))], 1002],
  ["a ping in fragments", () => [frame(text("x"), { opcode: 9, fin: false })], 1002],
  ["bytes in the place of text", () => [frame(text(request), { opcode: 2 })], 1008],
  ["no JSON", () => [frame(text("hello"))], 1008],
  ["an empty message", () => [frame(text(""))], 1008],
  ["a list", () => [frame(text([request]))], 1008],
  ["null", () => [frame(text(null))], 1008],
  ["a frame of another type", () => [frame(text({ ...request, type: "event" }))], 1008],
  ["a frame without an id", () => [frame(text({ type: "req", method: "connect" }))], 1008],
  ["an id that is a number", () => [frame(text({ ...request, id: 1 }))], 1008],
  ["a very long id", () => [frame(text({ ...request, id: "x".repeat(1_000) }))], 1008],
  ["parameters that are a list", () => [frame(text({ ...request, params: [] }))], 1008],
  [
    "JSON that is very deep",
    () => [
      frame(text(`{"type":"req","id":"1","method":"health","params":${'{"a":'.repeat(1_500)}1${"}".repeat(1_501)}`)),
    ],
    1008,
  ],
  ["a field that does not exist", () => [frame(text({ ...request, token: "x" }))], 1008],
  [
    "a field with the name of a prototype",
    () => [frame(text('{"type":"req","id":"1","method":"health","__proto__":{}}'))],
    1008,
  ],
];

describe("a stranger's connection is closed after", () => {
  const codes = new Map<string, number>();
  // All at once: the gateway waits half a second for clients that do not answer when it closes a connection.
  beforeAll(async () => {
    const send = async ([name, bytes]: (typeof rows)[number]) => {
      const socket = await openRawSocket(portOf(opened.gateway.url));
      const closed = untilClosed(socket);
      for (const each of bytes()) socket.write(each);
      codes.set(name, await closed);
    };
    await Promise.all(rows.map(send));
  });

  test.each(rows)("%s", (name, _bytes, code) => expect(codes.get(name)).toBe(code));
});

test("more than the first request needs is not read from a stranger", async () => {
  const socket = await openRawSocket(portOf(opened.gateway.url));
  const closed = untilClosed(socket);
  socket.write(frame(Buffer.alloc(200_000, "x"), { fin: false }));
  expect(await closed).toBe(0);
});

test("fragments that never end are not collected for ever", async () => {
  const { gateway } = opened;
  const socket = await openRawSocket(portOf(gateway.url));
  const closed = untilClosed(socket);
  socket.write(frame(text(""), { fin: false }));
  for (let count = 0; count < 1_100; count++) socket.write(frame(text(""), { opcode: 0, fin: false }));
  expect([1008, 1009]).toContain(await closed);
});

describe("from a known client", () => {
  test("a message of the largest size is read, and one of a byte more closes the connection", async () => {
    const { gateway, token } = opened;
    const client = await connectRaw(gateway.url, { token });
    const start = '{"type":"req","id":"big","method":"health","params":{"x":"';
    const end = '"}}';
    const filler = "x".repeat(1024 * 1024 - start.length - end.length);
    client.socket.send(`${start}${filler}${end}`);
    await expect.poll(() => client.frames.some((each) => each.type === "res" && each.id === "big")).toBe(true);
    client.socket.send(`${start}${filler}x${end}`);
    expect(await client.closed).toBe(1009);
  });

  test("a message in many fragments is read as one", async () => {
    const { gateway, token } = opened;
    const client = await connectRaw(gateway.url, { token });
    const message = JSON.stringify({ ...request, id: "parts" });
    for (const [index, character] of [...message].entries()) {
      client.socket.send(character, { fin: index === message.length - 1 });
    }
    await expect
      .poll(() => client.frames.some((each) => each.type === "res" && each.id === "parts" && each.ok))
      .toBe(true);
    client.close();
  });

  test("many requests at once are all answered", async () => {
    const { gateway, token } = opened;
    const client = await connectRaw(gateway.url, { token });
    const answers = await Promise.all(Array.from({ length: 60 }, () => client.call("health")));
    expect(answers.every(({ ok }) => ok)).toBe(true);
    client.close();
  });
});

test("no bytes keep others from being served", async () => {
  const { gateway, token } = opened;
  const port = portOf(gateway.url);
  const client = await connectRaw(gateway.url, { token });
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), fc.boolean(), async (bytes, isFramed) => {
      const socket = await openRawSocket(port);
      const closed = new Promise((resolve) => socket.once("close", resolve));
      socket.resume();
      socket.end(isFramed ? frame(Buffer.from(bytes)) : Buffer.from(bytes));
      await closed;
    }),
    { numRuns: process.env["TAU_LONG"] ? 10_000 : 200 },
  );
  expect((await client.call("health")).ok).toBe(true);
  client.close();
});

describe("with time", () => {
  async function openTimed() {
    const clock = createFakeClock();
    const timed = await openTestGateway({ options: { clock } });
    onTestFinished(timed.close);
    return { ...timed, clock };
  }

  test("deltas that wait are written with the next frame that does not, though no time passes", async () => {
    const model = scriptedModel([[say("one two three four five")]]);
    const timed = await openTestGateway({ model, options: { clock: createFakeClock() } });
    onTestFinished(timed.close);
    const client = await connectRaw(timed.gateway.url, { token: timed.token });
    const { sessionId } = await client.must<{ sessionId: string }>("sessions.create", { cwd: timed.workspace });
    await client.must("sessions.subscribe", { sessionId });
    await timed.gateway.parts.sessions.find(sessionId)!.hosted.session.prompt("Count.");
    const names = () => client.events().map(({ event }) => event);
    await expect.poll(names).toContain("session.message.ended");
    expect(names().filter((name) => name === "session.message.delta").length).toBeGreaterThan(1);
    expect(names().indexOf("session.message.ended")).toBeGreaterThan(names().lastIndexOf("session.message.delta"));
  });

  test("who does not say who it is goes after five seconds", async () => {
    const { gateway, clock } = await openTimed();
    const client = await openRaw(gateway.url);
    await clock.advance(4_999);
    expect(client.socket.readyState).toBe(client.socket.OPEN);
    await clock.advance(1);
    expect(await client.closed).toBe(1008);
  });

  test("a connection whose other end is gone without a word is closed within 45 seconds", async () => {
    const { gateway, token, clock } = await openTimed();
    // It reads nothing any more and so answers no ping, as if its cable was pulled.
    const gone = await connectRaw(gateway.url, { token });
    const alive = await connectRaw(gateway.url, { token });
    gone.socket.pause();
    expect(gateway.parts.connections.count).toBe(2);
    let pings = 0;
    alive.socket.on("ping", () => pings++);
    for (let seconds = 0; seconds < 45; seconds += 15) {
      expect(gateway.parts.connections.count).toBe(2);
      await clock.advance(15_000);
      if (seconds < 30) await expect.poll(() => pings).toBe(seconds / 15 + 1);
      // The answer to the ping is under way.
      expect((await alive.call("health")).ok).toBe(true);
    }
    await expect.poll(() => gateway.parts.connections.count).toBe(1);
    expect((await alive.call("health")).ok).toBe(true);
    gone.socket.terminate();
    alive.close();
  });

  test("a client with as many requests as it may have stays connected", async () => {
    const clock = createFakeClock();
    const model = scriptedModel([
      (_context, { signal }) =>
        new Promise((resolve) => signal?.addEventListener("abort", () => resolve([say("Ended.")]))),
    ]);
    const busy = await openTestGateway({ model, settings: { gateway: { lanes: { global: 1 } } }, options: { clock } });
    onTestFinished(busy.close);
    const { gateway, token, workspace } = busy;
    const client = await connectRaw(gateway.url, { token });
    const create = async () =>
      (await client.must<{ sessionId: string }>("sessions.create", { cwd: workspace })).sessionId;
    const [running, waiting] = [await create(), await create()];
    await client.must("session.prompt", { sessionId: running, message: "Take the only place." });
    await expect.poll(() => model.asked.length).toBe(1);
    const ask = () => void client.call("session.execute", { sessionId: waiting, prompt: "Wait." }).catch(() => {});
    for (let count = 0; count < 300; count++) ask();
    let pings = 0;
    client.socket.on("ping", () => pings++);
    for (let round = 0; round < 6; round++) {
      await clock.advance(15_000);
      await expect.poll(() => pings).toBe(round + 1);
    }
    expect(client.socket.readyState).toBe(client.socket.OPEN);
    client.close();
  });
});

test("a client that asks and does not read costs no more than its budget, and others are served", async () => {
  const { gateway, token, workspace } = opened;
  const other = await connectRaw(gateway.url, { token });
  const { sessionId } = await other.must<{ sessionId: string }>("sessions.create", { cwd: workspace });
  const { sessionManager } = gateway.parts.sessions.find(sessionId)!.hosted.session;
  await sessionManager.appendMessage({ role: "user", content: "x".repeat(300_000), timestamp: 1 });
  const client = await connectRaw(gateway.url, { token });
  const here = gateway.parts.connections.list().at(-1);
  client.socket.pause();
  const answers = Array.from({ length: 60 }, () => client.call("session.get_entries", { sessionId }));
  await expect.poll(() => here!.bufferedBytes).toBeGreaterThan(1024 * 1024);
  for (let round = 0; round < 20; round++) {
    expect((await other.call("health")).ok).toBe(true);
    expect(here!.bufferedBytes).toBeLessThan(6 * 1024 * 1024);
  }
  client.socket.resume();
  expect((await Promise.all(answers)).every(({ ok }) => ok)).toBe(true);
  client.close();
  other.close();
});

test("connections of strangers give way to newer ones, and those that were let in stay", async () => {
  const limited = await openTestGateway({
    options: { serverLimits: { maxUnknownSocketsPerAddress: 3 } },
  });
  onTestFinished(limited.close);
  const { gateway, token } = limited;
  const known = await connectRaw(gateway.url, { token });
  const strangers = [];
  for (let count = 0; count < 3; count++) strangers.push(await openRaw(gateway.url));
  // The owner gets in although strangers have all places.
  const owner = await connectRaw(gateway.url, { token });
  expect(await strangers[0]!.closed).toBe(1013);
  for (const stranger of strangers.slice(1)) expect(stranger.socket.readyState).toBe(stranger.socket.OPEN);
  for (let count = 0; count < 7; count++) (await connectRaw(gateway.url, { token })).close();
  for (const client of [known, owner]) {
    expect((await client.call("health")).ok).toBe(true);
    client.close();
  }
});

test("256 connections that say nothing do not lock the owner out", async () => {
  const { gateway, token, close } = await openTestGateway();
  onTestFinished(close);
  const strangers = await Promise.all(Array.from({ length: 256 }, () => openRaw(gateway.url)));
  const owner = await connectRaw(gateway.url, { token });
  expect((await owner.call("health")).ok).toBe(true);
  for (const stranger of strangers) stranger.socket.terminate();
});

test("a flood of connections in one moment does not lock the owner out", async () => {
  const { gateway, token, close } = await openTestGateway({ options: { clock: createFakeClock() } });
  onTestFinished(close);
  for (let round = 0; round < 8; round++) await Promise.all(Array.from({ length: 100 }, () => openRaw(gateway.url)));
  const owner = await connectRaw(gateway.url, { token });
  expect((await owner.call("health")).ok).toBe(true);
  owner.close();
});

test("of connections that gave way and do not answer, few stay open", async () => {
  const serverLimits = { maxUnknownSockets: 4, maxUnknownSocketsPerAddress: 2 };
  const { gateway, close } = await openTestGateway({ options: { clock: createFakeClock(), serverLimits } });
  onTestFinished(close);
  const port = portOf(gateway.url);
  const sockets: Socket[] = [];
  for (let count = 0; count < 12; count++) {
    // It ends only when the gateway cuts it off.
    sockets.push(await openRawSocket(port));
  }
  await expect.poll(() => sockets.filter(({ closed }) => closed).length).toBe(6);
  expect(sockets.map(({ closed }) => closed)).toEqual([...Array(6).fill(true), ...Array(6).fill(false)]);
  for (const socket of sockets) socket.destroy();
});

test.each([
  [[], undefined],
  [["a", "a", "b"], "a0"],
  [["b", "a"], undefined],
  [["b", "b", "a", "c"], "b0"],
  [["c", "b", "d", "e"], "c0"],
])("of strangers at %j the one that gives way to a new one at a is %s", (addresses, leaving) => {
  const unknown = addresses.map(
    (address, index) => [`${address}${addresses.indexOf(address) === index ? 0 : 1}`, address] as const,
  );
  expect(chooseLeaving(unknown, "a", { maxUnknownSockets: 4, maxUnknownSocketsPerAddress: 2 })).toBe(leaving);
});

import { PassThrough } from "node:stream";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { StdioTransport } from "./stdio-transport.ts";

async function start() {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  let finish = () => {};
  const exit = new Promise<void>((resolve) => (finish = resolve));
  const end = async () => {
    for (const stream of [stdin, stdout, stderr]) stream.destroy();
    finish();
  };
  const transport = new StdioTransport({ stdin, stdout, stderr, exit, end } as never);
  const messages: unknown[] = [];
  Object.assign(transport, { onmessage: (message: unknown) => void messages.push(message) });
  await transport.start();
  return { transport, stdin, stdout, messages };
}

const message = (id: number, text: string) => ({ jsonrpc: "2.0", id, result: { text } });

test("messages are read however they are cut", async () => {
  const sent = [message(1, "a"), message(2, "bü€😀".repeat(500)), message(3, ""), message(4, "d")];
  const bytes = Buffer.from(`\n${sent.map((each) => JSON.stringify(each)).join("\n")}\r\n`);
  for (const size of [1, 2, 3, 7, 64, 1_000, bytes.length]) {
    const { stdout, messages, transport } = await start();
    for (let index = 0; index < bytes.length; index += size)
      stdout.write(Buffer.from(bytes.subarray(index, index + size)));
    await expect.poll(() => messages).toEqual(sent);
    await transport.close();
  }
});

test("a line that comes byte by byte takes no more memory than its bytes", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const measure = () => {
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const { stdout, transport } = await start();
  const before = measure();
  let read = 0;
  stdout.on("data", (chunk: Buffer) => (read += chunk.length));
  const count = 300_000;
  for (let index = 0; index < count; index++) stdout.write(Buffer.allocUnsafeSlow(1).fill("x"));
  await expect.poll(() => read).toBe(count);
  expect(measure() - before).toBeLessThan(20 * 1024 * 1024);
  await transport.close();
});

test("a server that does not read is ended, however many answers it asks for", async () => {
  const { stdin, transport } = await start();
  const refused: number[] = [];
  for (let id = 0; id < 2_000; id++)
    void transport.send({ jsonrpc: "2.0", id, result: {} }).catch(() => void refused.push(id));
  await expect.poll(() => refused.at(-1)).toBe(1_999);
  expect([transport.hasEnded, transport.problem]).toEqual([true, "It does not read what is sent to it."]);
  await expect.poll(() => stdin.destroyed).toBe(true);
});

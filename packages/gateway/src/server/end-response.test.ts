import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { endResponse } from "./end-response.ts";

async function open(answer: (response: ServerResponse) => void) {
  const server = createServer((_request, response) => answer(response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { server, port };
}

test("a client that reads nothing of its answer is cut off", async () => {
  const { server, port } = await open((response) => endResponse(response, Buffer.alloc(64 * 1024 * 1024), 20));
  const client = connect(port, "127.0.0.1");
  onTestFinished(() => void client.destroy());
  client.on("error", () => {});
  client.pause();
  client.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  const [, response] = (await once(server, "request")) as [unknown, ServerResponse];
  await once(response, "close");
  expect(client.bytesRead).toBe(0);
});

test("one that reads gets all of it, however large", async () => {
  const { port } = await open((response) => endResponse(response, Buffer.alloc(8 * 1024 * 1024), 5_000));
  const body = await (await fetch(`http://127.0.0.1:${port}/`)).arrayBuffer();
  expect(body.byteLength).toBe(8 * 1024 * 1024);
});

import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { encodeFrame, encodeJson } from "./encoded-frame.ts";

test("a client reads what was encoded, whatever its length, between the frames of `ws` itself", async () => {
  const lengths = [0, 2, 125, 126, 127, 65_535, 65_536, 65_537, 1_000_000];
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false });
  onTestFinished(() => server.close());
  server.on("connection", (webSocket, request) => {
    for (const length of lengths) {
      request.socket.write(encodeJson("é".repeat(length % 2) + "x".repeat(length - 2 * (length % 2))).message);
      webSocket.ping();
      webSocket.send(String(length));
    }
    webSocket.close(1000, "all");
  });
  await once(server, "listening");

  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const received: string[] = [];
  client.on("message", (data: Buffer, isBinary) => received.push(isBinary ? "binary" : data.toString()));
  const [code, reason] = (await once(client, "close")) as [number, Buffer];

  expect([code, reason.toString()]).toEqual([1000, "all"]);
  expect(received.filter((_, index) => index % 2 === 1)).toEqual(lengths.map(String));
  const lengthsRead = received.filter((_, index) => index % 2 === 0).map((text) => Buffer.byteLength(text));
  expect(lengthsRead).toEqual(lengths);
});

test("the text of a frame is at hand for what is not a WebSocket", () => {
  const frame = { type: "event", event: "gateway.stopping", payload: {} } as const;
  expect(JSON.parse(encodeFrame(frame).json.toString())).toEqual(frame);
  expect(encodeJson(Buffer.from("[1]")).json.toString()).toBe("[1]");
});

/**
 * Many clients of a WebSocket server, in a process of their own. The first message says what to do; afterwards each
 * number that the parent sends is answered when every client has got so many messages since all were connected.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import { createProof, importToken } from "@tau/protocol/gateway";

const sockets = [];
let received = 0;
let waiting;

process.on("message", async (message) => {
  if (typeof message === "object") await connectAll(message);
  else waiting = message * sockets.length;
  check();
});

function check() {
  if (waiting === undefined || received < waiting) return;
  waiting = undefined;
  process.send("received");
}

async function connectAll({ url, token, sessionId, count, isStalled = false }) {
  const key = token && (await importToken(token));
  for (let index = 0; index < count; index += 50) {
    await Promise.all(Array.from({ length: Math.min(50, count - index) }, () => connect({ url, key, sessionId })));
    await sleep(1);
  }
  received = 0;
  for (const socket of sockets) {
    socket.removeAllListeners("message");
    if (isStalled) socket.pause();
    else socket.on("message", onMessage);
  }
  process.send("connected");
}

const onMessage = () => {
  received++;
  check();
};

/** Without a key: a server that asks nothing. */
async function connect({ url, key, sessionId }) {
  const socket = new WebSocket(url, { perMessageDeflate: false, skipUTF8Validation: true });
  sockets.push(socket);
  const frames = [];
  let wake = () => {};
  socket.on("message", (data) => {
    frames.push(JSON.parse(data.toString()));
    wake();
  });
  const next = async (isWanted) => {
    while (!frames.some(isWanted)) await new Promise((resolve) => (wake = resolve));
    return frames.find(isWanted);
  };
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  if (!key) return;
  const call = async (id, method, params) => {
    socket.send(JSON.stringify({ type: "req", id, method, params }));
    const response = await next((frame) => frame.id === id);
    if (!response.ok) throw new Error(`${method}: ${response.error.message}`);
  };
  const { payload } = await next((frame) => frame.event === "connect.challenge");
  const deviceId = "local";
  const client = { name: "bench", version: "1" };
  const proof = await createProof(key, { nonce: payload.nonce, deviceId });
  await call("1", "connect", { minProtocol: 2, maxProtocol: 2, client, deviceId, proof });
  if (sessionId === undefined) return;
  await call("2", "sessions.subscribe", { sessionId });
  await next((frame) => frame.event === "session.snapshot");
}

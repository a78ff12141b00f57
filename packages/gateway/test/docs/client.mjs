// Asks a gateway something and prints the answer as it arrives: node client.mjs "What is this project?"
import { createHmac, createPrivateKey, sign } from "node:crypto";
const { TAU_URL = "ws://127.0.0.1:7433", TAU_DEVICE = "local", TAU_TOKEN, TAU_CWD = process.cwd() } = process.env;
const { WebSocket = (await import("ws")).WebSocket } = globalThis; // Node 20 has none of its own
const socket = new WebSocket(TAU_URL);
const waiting = new Map();
let lastId = 0;

function call(method, params) {
  const id = String(++lastId);
  socket.send(JSON.stringify({ type: "req", id, method, params }));
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

function createProof(nonce) {
  const seed = createHmac("sha256", TAU_TOKEN).update("tau-gateway-key-1").digest("hex");
  const der = Buffer.from(`302e020100300506032b657004220420${seed}`, "hex");
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  return sign(null, Buffer.from(`tau-gateway-connect-2\n${TAU_DEVICE}\n${nonce}`), key).toString("hex");
}

async function ask({ nonce }) {
  const client = { name: "client.mjs", version: "1" };
  const proof = createProof(nonce);
  await call("connect", { minProtocol: 2, maxProtocol: 2, client, deviceId: TAU_DEVICE, proof });
  const { sessionId } = await call("sessions.create", { cwd: TAU_CWD });
  await call("sessions.subscribe", { sessionId });
  await call("session.execute", { sessionId, prompt: process.argv[2] });
}

socket.addEventListener("message", ({ data }) => {
  const frame = JSON.parse(data);
  if (frame.type === "res" && frame.ok) waiting.get(frame.id).resolve(frame.payload);
  else if (frame.type === "res") waiting.get(frame.id).reject(new Error(frame.error.message));
  else if (frame.event === "session.message.delta") process.stdout.write(frame.payload.delta);
  else if (frame.event === "connect.challenge") {
    const end = ask(frame.payload).catch((error) => process.stderr.write(`${error.message}\n`));
    end.then(() => socket.close());
  }
});

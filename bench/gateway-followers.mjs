/** Clients that follow one session each, in a process of their own, and notice gaps. */
import { connectRaw } from "@tau/gateway/testing";

let deltas = 0;
let isWhole = true;

process.on("message", async (message) => {
  if (message === "count") return process.send({ deltas, isWhole });
  const { url, token, ids } = message;
  for (const sessionId of ids) {
    const client = await connectRaw(url, { token });
    await client.must("sessions.subscribe", { sessionId });
    client.socket.removeAllListeners("message");
    let lastSeq;
    client.socket.on("message", (data) => {
      const { seq, event } = JSON.parse(data.toString());
      if (seq === undefined) return;
      if (lastSeq !== undefined && seq !== lastSeq + 1) isWhole = false;
      lastSeq = seq;
      if (event === "session.message.delta") deltas++;
    });
  }
  return process.send("ready");
});

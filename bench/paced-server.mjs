/** A server whose answer arrives at a steady rate. It tells how many frames it has sent, so that a program can be measured. */
import { createServer } from "node:http";
import { once } from "node:events";

/** `onSent` is called with the number of frames sent so far, after each piece, and before the first. */
export async function startPacedServer({ frames, end, framesPerSecond, onSent }) {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    const startedAt = performance.now();
    let sent = 0;
    onSent(0);
    const timer = setInterval(() => {
      const due = Math.min(frames.length, Math.floor(((performance.now() - startedAt) * framesPerSecond) / 1_000));
      if (due === sent) return;
      response.write(frames.slice(sent, due).join(""));
      sent = due;
      onSent(sent);
      if (sent < frames.length) return;
      clearInterval(timer);
      response.end(end);
    }, 5);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

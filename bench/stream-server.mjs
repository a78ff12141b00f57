/** A server in a process of its own, so that its work does not count: streams one answer in Anthropic's format. */
import { createServer } from "node:http";

const frame = (data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const usage = { input_tokens: 10, output_tokens: 1 };

/** The path says how many deltas, how long and of what kind: /COUNT/SIZE/KIND/v1/messages. */
const server = createServer((request, response) => {
  const [, count, size, kind] = request.url.split("/").map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  const isTool = kind === "tool";
  request.resume();
  request.on("end", async () => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const write = (text) =>
      response.write(text) ? undefined : new Promise((resolve) => response.once("drain", resolve));
    const block = isTool ? { type: "tool_use", id: "call_1", name: "write", input: {} } : { type: "text", text: "" };
    await write(frame({ type: "message_start", message: { id: "m", model: "bench", usage } }));
    await write(frame({ type: "content_block_start", index: 0, content_block: block }));
    const text = isTool ? `{"path":"a.txt","content":"${"line of text\\n".repeat(Math.ceil((count * size) / 14))}` : "";
    let batch = "";
    for (let at = 0; at < count; at++) {
      const piece = isTool
        ? text.slice(at * size, (at + 1) * size)
        : "word ".repeat(Math.ceil(size / 5)).slice(0, size);
      const delta = isTool ? { type: "input_json_delta", partial_json: piece } : { type: "text_delta", text: piece };
      batch += frame({ type: "content_block_delta", index: 0, delta });
      if (batch.length > 60_000) {
        await write(batch);
        batch = "";
      }
    }
    // The slices may end inside an escape; a letter closes it either way.
    const closing = isTool
      ? frame({ type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: 'n"}' } })
      : "";
    response.end(
      batch +
        closing +
        frame({ type: "content_block_stop", index: 0 }) +
        frame({
          type: "message_delta",
          delta: { stop_reason: isTool ? "tool_use" : "end_turn" },
          usage: { output_tokens: count },
        }) +
        frame({ type: "message_stop" }),
    );
  });
});
server.listen(0, "127.0.0.1", () => process.send(server.address().port));
process.on("disconnect", () => process.exit());

/** A model that answers at once, from memory, so that only the agent's own work is measured. */
import { AssistantMessageEventStream, emptyUsage } from "@tau/ai";

export const model = {
  id: "bench",
  name: "bench",
  api: "bench",
  provider: "bench",
  baseUrl: "",
  reasoning: false,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 1e9,
  maxTokens: 1e6,
};

const newAnswer = () => ({
  role: "assistant",
  content: [],
  api: "bench",
  provider: "bench",
  model: "bench",
  usage: emptyUsage(),
  stopReason: "stop",
  timestamp: 0,
});

/** Streams `count` text deltas. */
export const textStream = (count) => () => {
  const stream = new AssistantMessageEventStream();
  const partial = newAnswer();
  const block = { type: "text", text: "" };
  queueMicrotask(() => {
    stream.push({ type: "start", partial });
    partial.content.push(block);
    stream.push({ type: "text_start", contentIndex: 0, partial });
    for (let at = 0; at < count; at++) {
      block.text += "word ";
      stream.push({ type: "text_delta", contentIndex: 0, delta: "word ", partial });
    }
    stream.push({ type: "text_end", contentIndex: 0, content: block.text, partial });
    stream.push({ type: "done", reason: "stop", message: partial });
  });
  return stream;
};

/** Streams an answer that arrives as a whole. */
export function answerOnce(stopReason, ...blocks) {
  const stream = new AssistantMessageEventStream();
  const message = { ...newAnswer(), stopReason };
  queueMicrotask(() => {
    stream.push({ type: "start", partial: message });
    message.content.push(...blocks);
    stream.push({ type: "done", reason: stopReason, message });
  });
  return stream;
}

/** Asks for the tool `turns` times, then says that it is done. */
export function toolStream(turns) {
  let asked = 0;
  return () =>
    asked++ < turns
      ? answerOnce("toolUse", { type: "toolCall", id: `call_${asked}`, name: "echo", arguments: { value: "x" } })
      : answerOnce("stop", { type: "text", text: "done" });
}

export const echoTool = {
  name: "echo",
  label: "Echo",
  description: "Says it again",
  parameters: { type: "object", properties: { value: { type: "string" } }, required: ["value"] },
  execute: async (_id, { value }) => ({ content: [{ type: "text", text: value }], details: {} }),
};

/** CPU microseconds since `started`. */
export function cpuSince(started) {
  const { user, system } = process.cpuUsage(started);
  return user + system;
}

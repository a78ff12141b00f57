/** The events with which a provider would have sent a message. */
import { type AssistantMessage, type AssistantMessageEvent, systemClock } from "@tau/ai";
import { sleep } from "@tau/ai/internal";

type Block = AssistantMessage["content"][number];

interface Pace {
  /** How many characters a delta has. */
  deltaLength: number;
  /** At four characters a token. Without it, there is no pause between deltas. */
  tokensPerSecond: number | undefined;
  signal: AbortSignal | undefined;
}

/** After an abort, the answer is an aborted one that has what was sent until then. */
export async function* replay(
  message: AssistantMessage,
  { deltaLength, tokensPerSecond, signal }: Pace,
): AsyncGenerator<AssistantMessageEvent> {
  const sent: Block[] = [];
  const getPartial = (): AssistantMessage => ({ ...message, content: [...sent] });
  const pause = async (delta: string) => {
    if (tokensPerSecond) await sleep(systemClock, (delta.length / 4 / tokensPerSecond) * 1_000, signal);
  };
  if (signal?.aborted) return yield toAborted(getPartial());
  yield { type: "start", partial: getPartial() };
  for (const [contentIndex, block] of message.content.entries()) {
    const name = block.type === "toolCall" ? "toolcall" : block.type;
    const createEvent = (type: string, fields: object = {}) =>
      ({ type: `${name}_${type}`, contentIndex, partial: getPartial(), ...fields }) as AssistantMessageEvent;
    const text = getText(block);
    sent.push(cut(block, 0));
    yield createEvent("start");
    for (let length = 0; length === 0 || length < text.length; length += deltaLength) {
      const delta = text.slice(length, length + deltaLength);
      await pause(delta);
      if (signal?.aborted) return yield toAborted(getPartial());
      sent[contentIndex] = cut(block, length + deltaLength);
      yield createEvent("delta", { delta });
    }
    sent[contentIndex] = block;
    yield createEvent("end", block.type === "toolCall" ? { toolCall: block } : { content: text });
  }
  const { stopReason } = message;
  if (stopReason === "error" || stopReason === "aborted") yield { type: "error", reason: stopReason, error: message };
  else yield { type: "done", reason: stopReason, message };
}

const toAborted = (partial: AssistantMessage): AssistantMessageEvent => ({
  type: "error",
  reason: "aborted",
  error: { ...partial, stopReason: "aborted", errorMessage: "Request was aborted", timestamp: Date.now() },
});

function getText(block: Block): string {
  if (block.type === "text") return block.text;
  return block.type === "thinking" ? block.thinking : JSON.stringify(block.arguments);
}

/** The arguments of a call come all at once, when it ends. */
function cut(block: Block, length: number): Block {
  if (block.type === "text") return { ...block, text: block.text.slice(0, length) };
  return block.type === "thinking"
    ? { ...block, thinking: block.thinking.slice(0, length) }
    : { ...block, arguments: {} };
}

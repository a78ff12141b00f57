import { crc32 } from "node:zlib";
import { splitText, type ScriptedAnswer, getStopReason } from "../script.ts";
import type { WireDialect } from "./dialect.ts";

const stopReasons = { stop: "end_turn", length: "max_tokens", toolUse: "tool_use", refused: "content_filtered" };

export const bedrockConverseStreamDialect: WireDialect = {
  api: "bedrock-converse-stream",
  contentType: "application/vnd.amazon.eventstream",
  ping: awsEvent("keepAlive", {}),
  answer(answer) {
    const frames = [awsEvent("messageStart", { role: "assistant" })];
    answer.content.forEach((block, contentBlockIndex) => {
      frames.push(...toFrames(block, contentBlockIndex), awsEvent("contentBlockStop", { contentBlockIndex }));
    });
    frames.push(awsEvent("messageStop", { stopReason: stopReasons[getStopReason(answer)] }));
    frames.push(awsEvent("metadata", { usage: getUsage(answer), metrics: { latencyMs: 1 } }));
    return frames;
  },
  streamError: (kind, message) =>
    awsMessage(
      {
        ":message-type": "exception",
        ":exception-type": kind === "overloaded" ? "serviceUnavailableException" : "throttlingException",
        ":content-type": "application/json",
      },
      JSON.stringify({ message }),
    ),
  errorBody: (_status, message) => JSON.stringify({ message }),
};

function toFrames(block: ScriptedAnswer["content"][number], contentBlockIndex: number): Uint8Array[] {
  const delta = (fields: object) => awsEvent("contentBlockDelta", { contentBlockIndex, delta: fields });
  if (block.type === "text") return splitText(block.text).map((text) => delta({ text }));
  if (block.type === "toolCall") {
    const start = { toolUse: { toolUseId: block.id, name: block.name } };
    const json = Object.keys(block.arguments).length > 0 ? JSON.stringify(block.arguments) : "";
    return [
      awsEvent("contentBlockStart", { contentBlockIndex, start }),
      ...splitText(json).map((input) => delta({ toolUse: { input } })),
    ];
  }
  if (block.redacted) return [delta({ reasoningContent: { redactedContent: block.thinkingSignature ?? "" } })];
  return [
    ...splitText(block.thinking).map((text) => delta({ reasoningContent: { text } })),
    delta({ reasoningContent: { signature: block.thinkingSignature ?? "signature" } }),
  ];
}

function getUsage(answer: ScriptedAnswer): object {
  const { input = 10, output = 5, cacheRead = 0, cacheWrite = 0 } = answer.usage ?? {};
  return {
    inputTokens: input,
    outputTokens: output,
    totalTokens: input + output,
    cacheReadInputTokens: cacheRead,
    cacheWriteInputTokens: cacheWrite,
  };
}

/** An event of a stream, in AWS's binary framing. */
export function awsEvent(type: string, payload: object): Uint8Array {
  const headers = { ":event-type": type, ":content-type": "application/json", ":message-type": "event" };
  return awsMessage(headers, JSON.stringify(payload));
}

/** A message in AWS's binary framing, with string headers. */
export function awsMessage(headers: Record<string, string>, payload: string): Uint8Array {
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => encodeHeader(name, value)));
  const body = Buffer.from(payload, "utf8");
  const prelude = Buffer.alloc(8);
  prelude.writeUInt32BE(16 + head.length + body.length, 0);
  prelude.writeUInt32BE(head.length, 4);
  const message = Buffer.concat([prelude, getChecksum(prelude), head, body]);
  return Buffer.concat([message, getChecksum(message)]);
}

function encodeHeader(name: string, value: string): Buffer {
  const nameBytes = Buffer.from(name, "utf8");
  const valueBytes = Buffer.from(value, "utf8");
  const length = Buffer.alloc(2);
  length.writeUInt16BE(valueBytes.length);
  return Buffer.concat([Buffer.from([nameBytes.length]), nameBytes, Buffer.from([7]), length, valueBytes]);
}

function getChecksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum;
}

import { styleText } from "node:util";
import { type AssistantMessageEvent, type Context, streamSimple, type Tool } from "@tau/ai";
import { call, scriptedModel, text, thinking } from "@tau/ai/testing";
import type { Io, Run } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";

const weather: Tool = {
  name: "weather",
  description: "The weather of a place",
  parameters: { type: "object", properties: { place: { type: "string" } }, required: ["place"] },
};

/** Two turns with a scripted model: it thinks, asks for a tool, gets an answer and speaks. Needs no key and no network. */
export const demo: Run = async (args, io) => {
  if (args.length > 0) {
    io.err(`tau demo: it takes no arguments, and got ${args.join(" ")}.\n`);
    return exitCodes.usage;
  }
  const model = scriptedModel(
    [
      [thinking("A question about the weather. There is a tool for that."), call("weather", { place: "Samarkand" })],
      [text("It is 21 °C and sunny in Samarkand. This answer was scripted: no model was asked, and nothing was sent.")],
    ],
    { tokensPerSecond: 60 },
  );
  const context: Context = {
    messages: [{ role: "user", content: "What is the weather in Samarkand?", timestamp: Date.now() }],
    tools: [weather],
  };
  io.out(`${label(io, "you")} What is the weather in Samarkand?\n`);
  try {
    for (let turn = 1; model.left > 0; turn++) {
      io.out(`\n${label(io, `turn ${turn}`)}\n`);
      const stream = streamSimple(model, context, { signal: io.signal });
      for await (const event of stream) show(event, io);
      const message = await stream.result();
      if (message.stopReason === "aborted") return exitCodes.interrupted;
      if (message.stopReason === "error") throw new Error(message.errorMessage);
      context.messages.push(message);
      for (const block of message.content) {
        if (block.type !== "toolCall") continue;
        io.out(`${label(io, "tool")} ${block.name} answers: 21 °C, sunny\n`);
        context.messages.push({
          role: "toolResult",
          toolCallId: block.id,
          toolName: block.name,
          content: [{ type: "text", text: "21 °C, sunny" }],
          isError: false,
          timestamp: Date.now(),
        });
      }
    }
  } finally {
    model.dispose();
  }
  return exitCodes.done;
};

function show(event: AssistantMessageEvent, io: Io): void {
  switch (event.type) {
    case "thinking_start":
      return io.out(label(io, "thinks "));
    case "text_start":
      return io.out(label(io, "says "));
    case "toolcall_start":
      return io.out(`${label(io, "calls")} ${nameOf(event)} `);
    case "thinking_delta":
      return io.out(io.colour ? styleText("dim", event.delta) : event.delta);
    case "text_delta":
    case "toolcall_delta":
      return io.out(event.delta);
    case "thinking_end":
    case "text_end":
    case "toolcall_end":
      return io.out("\n");
    case "done":
      return io.out(`${label(io, "ends")} ${event.reason}, ${event.message.usage.output} tokens\n`);
    case "start":
    case "error":
  }
}

function nameOf(event: AssistantMessageEvent & { type: "toolcall_start" }): string {
  const block = event.partial.content[event.contentIndex];
  return block?.type === "toolCall" ? block.name : "";
}

const label = (io: Io, name: string) => (io.colour ? styleText("cyan", name) : name);

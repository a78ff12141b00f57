/** Helpers for the tests of the loop: scripted models, and runs as lists of readable lines. */
import { type AssistantMessage, type Message, type Model, streamSimple } from "@tau/ai";
import { type ScriptedModel, scriptedModel, type ScriptedTurn, text } from "@tau/ai/testing";
import { onTestFinished } from "vitest";
import { agentLoop, runAgentLoop } from "../src/agent-loop.ts";
import { defaultConvertToLlm } from "../src/convert.ts";
import type {
  AgentContext,
  AgentEvent,
  AgentEventSink,
  AgentLoopConfig,
  AgentMessage,
  AgentTool,
  StreamFn,
} from "../src/types.ts";

export const script = (...turns: ScriptedTurn[]): ScriptedModel => {
  const model = scriptedModel(turns);
  onTestFinished(() => model.dispose());
  return model;
};

export const user = (content: string): Message => ({ role: "user", content, timestamp: 1 });

export const echo: AgentTool = {
  name: "echo",
  label: "Echo",
  description: "Says it again",
  parameters: { type: "object", properties: { value: { type: "string" } }, required: ["value"] },
  execute: async (_id, { value }) => ({ content: [text(`echo ${value}`)], details: { value } }),
};

export interface RunOptions extends Partial<AgentLoopConfig> {
  tools?: AgentTool[];
  messages?: AgentMessage[];
  signal?: AbortSignal;
}

export const runLoop = async (model: Model, { tools = [echo], messages = [], signal, ...config }: RunOptions = {}) => {
  const context: AgentContext = { systemPrompt: "Be brief.", messages, tools };
  const events: AgentEvent[] = [];
  const stream = agentLoop(
    [user("go")],
    context,
    { model, convertToLlm: defaultConvertToLlm, ...config },
    signal,
    streamSimple,
  );
  for await (const event of stream) events.push(event);
  return { events, messages: await stream.result(), lines: events.filter(isNotUpdate).map(formatEvent) };
};

/** Runs the loop with another stream function or sink. */
export const runLoopWith = async (
  open: StreamFn = streamSimple,
  sink: AgentEventSink = () => undefined,
  signal?: AbortSignal,
) => {
  const events: AgentEvent[] = [];
  const config = { model: script([text("ok")]), convertToLlm: defaultConvertToLlm };
  const recordAndForward: AgentEventSink = (event) => {
    events.push(event);
    return sink(event);
  };
  const messages = await runAgentLoop(
    [user("go")],
    { systemPrompt: "", messages: [] },
    config,
    recordAndForward,
    signal,
    open,
  );
  return { events, messages };
};

/** Updates are left out of the lists of lines. */
export const isNotUpdate = ({ type }: AgentEvent) => type !== "message_update";

/** An event as a readable line. */
export function formatEvent(event: AgentEvent): string {
  switch (event.type) {
    case "message_start":
    case "message_end":
      return `${event.type} ${describeMessage(event.message as Message)}`;
    case "tool_execution_start":
      return `${event.type} ${event.toolName}#${event.toolCallId}`;
    case "tool_execution_end":
      return `${event.type} ${event.toolName}#${event.toolCallId}${event.isError ? " error" : ""}`;
    case "turn_end":
      return `turn_end ${event.toolResults.length}`;
    default:
      return event.type;
  }
}

function describeMessage(message: Message): string {
  return message.role === "toolResult" ? `result#${message.toolCallId}` : message.role;
}

export const resultTexts = (messages: AgentMessage[]) =>
  messages
    .filter((message) => message.role === "toolResult")
    .map(({ content }) => (content[0] as { text: string }).text);

export const last = (messages: AgentMessage[]) => messages.at(-1) as AssistantMessage;

/** Runs one turn with exactly this content: a scripted model would correct content that is not valid. */
export async function runAnswer(content: AssistantMessage["content"]): Promise<AgentMessage[]> {
  const model = script([text("ok")]);
  const { EventStream } = await import("@tau/ai");
  let turns = 0;
  const context: AgentContext = { systemPrompt: "", messages: [], tools: [echo] };
  return await runAgentLoop(
    [user("go")],
    context,
    { model, convertToLlm: defaultConvertToLlm },
    () => {},
    undefined,
    () => {
      const stream = new EventStream<never, AssistantMessage>(
        () => false,
        () => undefined as never,
      );
      const message = { ...emptyAnswer(model), content: turns++ === 0 ? content : [text("ok")] };
      queueMicrotask(() => stream.end(message));
      return stream as never;
    },
  );
}

export const emptyAnswer = (model: Model): AssistantMessage => ({
  role: "assistant",
  content: [],
  api: model.api,
  provider: model.provider,
  model: model.id,
  usage: {
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 0,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  },
  stopReason: "stop",
  timestamp: 0,
});

export const hang = () => new Promise<never>(() => undefined);

/** Calls that are postponed, and runs that are resumed with them. */
import { call, createFakeClock, scriptedModel, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import {
  type AgentEvent,
  type AgentLoopConfig,
  type AgentMessage,
  type AgentTool,
  resumeAgentLoop,
  runAgentLoop,
} from "../src/index.ts";

function createLoop(mode: NonNullable<AgentLoopConfig["toolExecution"]>, postpones: (id: string) => boolean) {
  const made: string[] = [];
  const tool: AgentTool = {
    name: "make",
    label: "Make",
    description: "Makes.",
    parameters: { type: "object", properties: {} },
    async execute(id) {
      made.push(id);
      return { content: [{ type: "text", text: `made ${id}` }], details: {} };
    },
  };
  const events: AgentEvent[] = [];
  const config = (model: AgentLoopConfig["model"]): AgentLoopConfig => ({
    model,
    clock: createFakeClock(),
    toolExecution: mode,
    convertToLlm: (messages) => messages as never,
    beforeToolCall: ({ toolCall }) => ({ postpone: postpones(toolCall.id) }),
  });
  const emit = (event: AgentEvent) => void events.push(event);
  return { made, tool, events, config, emit };
}

const user: AgentMessage = { role: "user", content: "Make them.", timestamp: 0 };
const calls = ["a", "b", "c"].map((id) => ({ ...call("make"), id }));
const results = (messages: readonly AgentMessage[]) =>
  messages.flatMap((message) => (message.role === "toolResult" ? [message.toolCallId] : []));

test.each(["parallel", "sequential", "ordered"] as const)(
  "a call that is postponed has no result, and the run ends after the others: %s",
  async (mode) => {
    let isOpen = true;
    const { made, tool, events, config, emit } = createLoop(mode, (id) => isOpen && id === "b");
    const model = scriptedModel([calls, [text("Done.")]]);
    onTestFinished(() => model.dispose());
    const context = { systemPrompt: "", messages: [], tools: [tool] };
    const messages = await runAgentLoop([user], context, config(model), emit);
    expect(results(messages)).toEqual(["a", "c"]);
    expect(model.asked).toHaveLength(1);
    const starts = events.filter(({ type }) => type === "tool_execution_start");
    const ends = events.filter((event) => event.type === "tool_execution_end");
    expect([starts.length, ends.length]).toEqual([3, 3]);
    expect(ends.find(({ toolCallId }) => toolCallId === "b")).toMatchObject({ isError: true, errorCode: "postponed" });
    expect(events.at(-1)?.type).toBe("agent_end");

    isOpen = false;
    const added = await resumeAgentLoop({ ...context, messages }, config(model), emit);
    expect(results(added)).toEqual(["b"]);
    expect(made.toSorted()).toEqual(["a", "b", "c"]);
    expect(added.at(-1)).toMatchObject({ role: "assistant", content: [{ text: "Done." }] });
  },
);

test("there is nothing to resume where every call has a result", async () => {
  const { tool, config, emit } = createLoop("parallel", () => false);
  const model = scriptedModel([calls, [text("Done.")]]);
  onTestFinished(() => model.dispose());
  const context = { systemPrompt: "", messages: [], tools: [tool] };
  const messages = await runAgentLoop([user], context, config(model), emit);
  await expect(resumeAgentLoop({ ...context, messages }, config(model), emit)).rejects.toMatchObject({
    code: "nothing_to_continue",
  });
});

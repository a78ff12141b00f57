import { afterEach, expect, test } from "vitest";
import { call, type ScriptedModel, scriptedModel, text } from "@tau/ai/testing";
import type { AgentMessage, AgentTool } from "@tau/agent";
import * as Type from "typebox";
import { Agent, agentLoop, setDefaultStreamFn } from "../pi-agent-core.ts";
import { streamSimple } from "../pi-ai/index.ts";

let model: ScriptedModel | undefined;
afterEach(() => {
  setDefaultStreamFn(undefined);
  model?.dispose();
});

const user = (content: string): AgentMessage => ({ role: "user", content, timestamp: 0 });

test("an agent has the names of earlier versions", async () => {
  model = scriptedModel([[text("hello")], { failure: { kind: "invalid_request", message: "no luck" } }]);
  const agent = new Agent({ initialState: { model } });
  expect([agent.state.streamMessage, agent.state.error]).toEqual([null, undefined]);
  expect({ ...agent.state }).not.toHaveProperty("streamMessage");
  const seen: unknown[] = [];
  agent.subscribe((event) => {
    if (event.type === "message_update") seen.push(agent.state.streamMessage === agent.state.streamingMessage);
  });
  await agent.prompt("hi");
  expect(new Set(seen)).toEqual(new Set([true]));
  await agent.prompt("again");
  expect(agent.state.error).toContain("no luck");

  const tools: AgentTool[] = [];
  agent.setTools(tools);
  expect(agent.state.tools).toBe(tools);
  const hook = async () => undefined;
  agent.setTransport("sse");
  agent.setToolExecution("sequential");
  agent.setBeforeToolCall(hook);
  agent.setAfterToolCall(hook);
  expect(agent).toMatchObject({
    transport: "sse",
    toolExecution: "sequential",
    beforeToolCall: hook,
    afterToolCall: hook,
  });
});

test("a loop without a stream function uses the default one, and executes all calls before it is steered", async () => {
  model = scriptedModel([[call("echo", { value: "a" }), call("echo", { value: "b" })], [text("done")]]);
  let requests = 0;
  setDefaultStreamFn((...args) => {
    requests++;
    return streamSimple(...args);
  });
  const executed: string[] = [];
  const echo: AgentTool = {
    name: "echo",
    label: "",
    description: "",
    parameters: Type.Object({ value: Type.String() }),
    async execute(_id, { value }) {
      executed.push(value as string);
      return { content: [], details: undefined };
    },
  };
  const steering = [user("stop")];
  const stream = agentLoop(
    [user("go")],
    { systemPrompt: "", messages: [], tools: [echo] },
    {
      model,
      convertToLlm: (messages) => messages as never,
      toolExecution: "sequential",
      getSteeringMessages: () => (executed.length > 0 ? steering.splice(0) : []),
    },
  );
  const messages = await stream.result();
  expect(executed).toEqual(["a", "b"]);
  expect(messages.map(({ role }) => role)).toEqual([
    "user",
    "assistant",
    "toolResult",
    "toolResult",
    "user",
    "assistant",
  ]);
  expect(requests).toBe(2);
});

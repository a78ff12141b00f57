/** Sub-agents: tasks that a model gives to children of its session. */
import { wholeNumber } from "@tau/config/fields";
import { group, setting } from "@tau/config/settings";
import type { Feature, FeatureTool } from "@tau/extensions";
import { summariseTasks } from "./team/task-arguments.ts";

export const agentsSettings = {
  agents: group("Sub-agents, which the tool `task` starts.", {
    maxDepth: setting(wholeNumber({ min: 0, unit: "levels" }), {
      default: 2,
      description: "How deep they may start others: with 1, sub-agents have none of their own; with 0, there are none.",
    }),
    maxConcurrent: setting(wholeNumber({ min: 1, unit: "agents" }), {
      default: 8,
      description: "How many of one session work at the same time, those of sub-agents included. Others wait.",
    }),
  }),
};

const text = { type: "string" };

export const taskTool: FeatureTool = {
  name: "task",
  category: "coordination",
  label: "Task",
  description: "Give work to a sub-agent, or `tasks` to several. They know only their prompts.",
  parameters: {
    type: "object",
    properties: {
      description: text,
      prompt: text,
      agent: text,
      model: text,
      isolated: { type: "boolean" },
      schema: { type: "object" },
      resume: text,
      tasks: { type: "array", items: { type: "object" } },
      background: { type: "boolean" },
    },
  },
  promptSnippet: "use sub-agents",
  // What the children do is judged when they do it.
  access: () => [],
  isContained: true,
  executionMode: "parallel",
  summarise: summariseTasks,
};

const actions = ["list", "send", "wait", "read", "stop"];

export const agentsTool: FeatureTool = {
  name: "agents",
  category: "coordination",
  label: "Agents",
  description:
    "Look after sub-agents that `task` has started: list all, send a message to one (also to `main`, the first agent), wait for their answers, read the transcript of one, or stop one.",
  parameters: {
    type: "object",
    properties: {
      action: { type: "string", enum: actions },
      id: { ...text, description: "The agent, such as 2 or 2.1. For wait: all of yours if it is missing." },
      message: { ...text, description: "For send." },
      seconds: { type: "number", description: "For wait: the longest time, at most 600. Default 60." },
      from: { type: "number", description: "For read: the first line, from 1. Default: the last part." },
    },
    required: ["action"],
  },
  promptSnippet: "look after sub-agents",
  access: () => [],
  isContained: true,
  executionMode: "parallel",
  exposure: "deferred",
  summarise: (args: unknown) => {
    const { action, id } = (args ?? {}) as { action?: unknown; id?: unknown };
    return ["Agents:", action, id].filter((part) => typeof part === "string").join(" ");
  },
};

/** The feature `agents`: the tools `task` and `agents`, and what people see of sub-agents. */
export const agents = (): Feature => ({
  name: "agents",
  summary: "Sub-agents that work on tasks side by side, also in the background.",
  tools: [taskTool, agentsTool],
  commands: [
    { name: "agents", description: "Sub-agents and definitions of agents: show, steer, stop, make and edit them" },
  ],
  settings: agentsSettings,
  load: async (place) => {
    const { registerAgents } = await import("./team/agents.ts");
    return (tau) => registerAgents(tau, place);
  },
});

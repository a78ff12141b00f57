/** Layer 3: the tools with which a model changes its own session, for sessions that serve a channel. */
import { oncePer } from "@tau/ai/internal";
import { addTools } from "./add-tools.ts";
import type { HarnessActions, Layer, PipelineTool } from "./layer.ts";
import { textResult } from "./tool-result.ts";

export const harnessTools: Layer = (tools, { actions, choices, lifecycles, report }) =>
  addTools(tools, getTools(actions), { layer: 3, choices, lifecycles, report });

/** Creates a set for each session, so that the tools stay identical when the pipeline is built again. */
const getTools = oncePer((actions: HarnessActions): PipelineTool[] =>
  describeTools(actions).map((tool) => ({
    ...tool,
    isForChannels: true,
    isContained: true,
    access: () => [{ capability: "session", target: { kind: "name", name: tool.name } }],
  })),
);

export const harnessToolNames = ["session_branch", "session_navigate", "gateway_reload", "agent_interrupt"] as const;

type HarnessTool = PipelineTool & { name: (typeof harnessToolNames)[number] };

const describeTools = (actions: HarnessActions): HarnessTool[] => [
  {
    name: "session_branch",
    label: "Branch the session",
    description:
      "Start a new session that continues from an entry of this one, which stays as it is. Returns the new session's id; without an entryId also the last entries with their ids.",
    parameters: {
      type: "object",
      properties: { entryId: { type: "string", minLength: 1, description: "Default: the one before this call." } },
    },
    async execute(toolCallId, { entryId }) {
      const sessionId = await actions.branch(entryId, toolCallId);
      const entries = entryId === undefined ? [`The last entries of this one:`, ...(await actions.listEntries())] : [];
      return { ...textResult([`The new session is ${sessionId}.`, ...entries].join("\n")), details: { sessionId } };
    },
  },
  {
    name: "session_navigate",
    label: "Go to an entry",
    description:
      "Go to another entry of this session once the run is over; the conversation continues from there. Without an entryId, lists the last entries with their ids.",
    parameters: {
      type: "object",
      properties: { entryId: { type: "string", minLength: 1, description: "Where to go." } },
    },
    async execute(_id, { entryId }) {
      if (entryId === undefined) return textResult(`The last entries:\n${(await actions.listEntries()).join("\n")}`);
      await actions.navigate(entryId);
      return { ...textResult(`When this run is over, the session goes to entry ${entryId}.`), details: { entryId } };
    },
  },
  {
    name: "gateway_reload",
    label: "Reload",
    description: "Read settings, skills, prompts and context files again, for the next prompt. Returns what changed.",
    parameters: { type: "object", properties: {} },
    async execute() {
      const changed = [...(await actions.reload())];
      const lines = changed.map((what) => `- ${what}`).join("\n");
      return { ...textResult(changed.length > 0 ? `Changed:\n${lines}` : "Nothing changed."), details: { changed } };
    },
  },
  {
    name: "agent_interrupt",
    label: "Interrupt",
    description: "End this run after the calls of this answer, for when continuing would be of no use.",
    parameters: {
      type: "object",
      properties: { reason: { type: "string", description: "Why, for the person." } },
    },
    async execute(_id, { reason }) {
      actions.interrupt(reason?.trim() || "The agent asked for it.");
      return { ...textResult("The run ends here."), terminate: true };
    },
  },
];

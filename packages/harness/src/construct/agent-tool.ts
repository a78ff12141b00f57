/** An agent as a tool of another one. */
import { defineTool, type DefinedTool } from "@tau/extensions";
import { HarnessError } from "@tau/protocol";
import type { PromptOutcome } from "../agent-session/activity.ts";
import { type AgentDefinition, findChildOpener } from "../agent-session/tool-session.ts";
import { type AgentGuards, applyGuards } from "./agent-guards.ts";
import type { AgentSessionParams } from "./params.ts";

export interface AgentToolOptions {
  /** The name of the tool, by which people see the questions of the agent too. */
  name: string;
  /** Tells the model what the agent is for, and what to write in its prompt. */
  description: string;
}

interface AgentToolParts {
  params: Omit<AgentSessionParams, "model" | "streamFn">;
  source: Pick<AgentDefinition, "model" | "streamFn">;
  guards: AgentGuards | undefined;
  /** Returns the text of the answer, or throws. */
  toText: (outcome: Extract<PromptOutcome, { kind: "ran" }>) => string;
}

/** The parameters of an agent that apply where it works for another one. */
const applied = [
  "tools",
  "customTools",
  "allowedTools",
  "excludedTools",
  "features",
  "extensions",
  "systemPrompt",
  "appendSystemPrompt",
  "thinkingLevel",
  "toolChoice",
  "toolExecution",
  "budgets",
] as const satisfies (keyof AgentSessionParams)[];

/** Throws `invalid_input` for an agent with parameters that cannot apply in the session of another. */
export function createAgentTool({ name, description }: AgentToolOptions, parts: AgentToolParts): DefinedTool {
  const { params, source, guards, toText } = parts;
  mustApply(name, params);
  const { allowedTools, excludedTools, systemPrompt, appendSystemPrompt, budgets, ...own } = params;
  const { tools, customTools, features = [], extensions, thinkingLevel, toolChoice, toolExecution } = own;
  const definition = { tools, customTools, features, extensions, thinkingLevel, toolChoice, toolExecution, ...source };
  const options = {
    name,
    ...(allowedTools && { tools: allowedTools }),
    ...(excludedTools && { excludedTools }),
    ...(systemPrompt !== undefined && { systemPrompt }),
    ...(appendSystemPrompt && { appendSystemPrompt }),
    ...(budgets && { budgets }),
  };
  const tool = defineTool({
    name,
    description,
    input: {
      type: "object",
      properties: { prompt: { type: "string", description: "The task. The agent knows nothing else." } },
      required: ["prompt"],
    } as const,
    // What it does is judged when it does it.
    access: () => [],
    executionMode: "parallel",
    async execute({ prompt }, { signal, session }) {
      const open = findChildOpener(session);
      if (!open)
        throw new HarnessError(
          "invalid_input",
          `The agent ${name} can only be called in a session, as one of its tools.`,
        );
      await applyGuards("input", guards, { text: prompt, signal });
      const child = await open(options, definition);
      try {
        const outcome = await child.prompt(prompt, { signal });
        if (outcome.kind !== "ran") throw new HarnessError("run_failed", `The agent ${name} gave no answer.`);
        const text = toText(outcome);
        await applyGuards("output", guards, { text, signal });
        return text;
      } finally {
        await child.dispose();
      }
    },
  });
  return { ...tool, isContained: true };
}

function mustApply(name: string, params: AgentToolParts["params"]): void {
  const others = Object.entries(params).flatMap(([key, value]) =>
    value === undefined || (applied as readonly string[]).includes(key) ? [] : [key],
  );
  if (others.length === 0) return;
  const message = `The agent ${name} cannot be a tool with the parameter ${others[0]}: it works in the directory, with the policy, the sandbox and the settings of the session that calls it. Leave it out.`;
  throw new HarnessError("invalid_input", message);
}

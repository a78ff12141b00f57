import type { AgentTool } from "@tau/agent";
import type { RegisteredTool } from "./extension.ts";
import type { ExtensionRunner } from "./runner.ts";

/** A tool of an extension for the agent loop, which calls it with a context of the runner. */
export function wrapRegisteredTool({ definition }: RegisteredTool, runner: ExtensionRunner): AgentTool {
  const { name, label, description, parameters, prepareArguments, executionMode } = definition;
  return {
    name,
    label,
    description,
    parameters,
    ...(prepareArguments && { prepareArguments }),
    ...(executionMode && { executionMode }),
    execute: (id, args, signal, onUpdate) =>
      definition.execute(id, args, signal, onUpdate, runner.createToolContext(id)),
  };
}

export const wrapRegisteredTools = (tools: readonly RegisteredTool[], runner: ExtensionRunner): AgentTool[] =>
  tools.map((tool) => wrapRegisteredTool(tool, runner));

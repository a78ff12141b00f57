/** How a layer that has tools of its own adds them. */
import { adaptTool, getName, getProblem } from "./adapt-tool.ts";
import { withOptions } from "./choices.ts";
import type { GivenTool, PipelineInput, PipelineTool } from "./layer.ts";

/**
 * The tools, then those of `more` that are tools, that nobody turned off and whose names are free: nothing is replaced
 * here. What a named agent sets for a tool applies, wherever the tool comes from.
 */
export function addTools(
  tools: readonly PipelineTool[],
  more: readonly GivenTool[],
  { layer, choices, report }: Pick<PipelineInput, "choices" | "report"> & { layer: number },
): PipelineTool[] {
  const getChoice = new Map(choices.map((choice) => [choice.name, choice]));
  const taken = new Set(tools.map(({ name }) => name));
  const added = more.flatMap((given): PipelineTool[] => {
    const name = getName(given);
    const choice = getChoice.get(name);
    const reason =
      getProblem(given) ??
      (choice?.enabled === false ? "The agent's tools.yaml turns it off." : undefined) ??
      (taken.has(name) ? "Another tool has the same name and came first." : undefined);
    if (reason !== undefined) {
      report({ name, layer, reason });
      return [];
    }
    taken.add(name);
    const tool = adaptTool(given);
    return [choice ? withOptions(tool, choice.options) : tool];
  });
  return [...tools, ...added];
}

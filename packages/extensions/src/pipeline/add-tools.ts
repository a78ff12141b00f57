/** Adds tools in the layers that have tools of their own. */
import { adaptTool, getName, getProblem } from "./adapt-tool.ts";
import { withOptions } from "./choices.ts";
import type { GivenTool, PipelineInput, PipelineTool } from "./layer.ts";

/**
 * The tools, then those of `more` that are valid, not turned off and whose names are free: nothing is replaced here. The
 * options of a named agent apply to a tool of any origin.
 */
export function addTools(
  tools: readonly PipelineTool[],
  more: readonly GivenTool[],
  { layer, choices, lifecycles, report }: Pick<PipelineInput, "choices" | "lifecycles" | "report"> & { layer: number },
): PipelineTool[] {
  const getChoice = new Map(choices.map((choice) => [choice.name, choice]));
  const taken = new Set(tools.map(({ name }) => name));
  const added = more.flatMap((candidate): PipelineTool[] => {
    const name = getName(candidate);
    const choice = getChoice.get(name);
    const reason =
      getProblem(candidate) ??
      (choice?.enabled === false ? "The agent's tools.yaml turns it off." : undefined) ??
      (taken.has(name) ? "Another tool has the same name and came first." : undefined) ??
      lifecycles.getFailure(candidate);
    if (reason !== undefined) {
      report({ name, layer, reason });
      return [];
    }
    taken.add(name);
    const tool = lifecycles.bind(adaptTool(candidate));
    return [choice ? withOptions(tool, choice.options) : tool];
  });
  return [...tools, ...added];
}

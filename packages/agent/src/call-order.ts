import type { AgentTool, ToolExecutionMode } from "./types.ts";

/**
 * How a call is ordered among the calls of its answer. `read` calls run together. A `write` call waits for all `read`
 * and `write` calls before it, and those after it wait for it. An `unordered` call neither waits nor is waited for.
 */
export type CallOrder = "read" | "write" | "unordered";

/** A tool that is not known counts as one that writes. */
export function getCallOrder(tool: AgentTool | undefined, mode: Exclude<ToolExecutionMode, "sequential">): CallOrder {
  if (mode === "parallel" || tool?.executionMode === "parallel") return "unordered";
  return tool?.readOnly === true ? "read" : "write";
}

/**
 * Groups the calls of an answer, by index, into stages. The calls of a stage run together. A stage starts when the
 * `read` and `write` calls of the stage before it have ended; `unordered` calls are all in the first stage.
 */
export function toStages(orders: readonly CallOrder[]): number[][] {
  const stages: number[][] = [[]];
  let previous: CallOrder | undefined;
  for (const [index, order] of orders.entries()) {
    if (order === "unordered") {
      stages[0]!.push(index);
      continue;
    }
    const mayJoin = previous === undefined || (previous === "read" && order === "read");
    if (mayJoin) stages.at(-1)!.push(index);
    else stages.push([index]);
    previous = order;
  }
  return stages;
}

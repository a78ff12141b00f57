/** Layer 7: a call ends with its session, and has a context of its own. */
import { followSignal, oncePerPair } from "@tau/ai/internal";
import { HarnessError } from "@tau/protocol";
import { withCallContext } from "./call-context.ts";
import type { Layer, PipelineTool } from "./layer.ts";

export const abortableTools: Layer = (tools, { signal, createCallContext }) =>
  tools.map((tool) => abortable(signal, withCallContext(createCallContext, tool)));

const abortable = oncePerPair((session: AbortSignal, tool: PipelineTool): PipelineTool => ({
  ...tool,
  async execute(toolCallId, params, call, onUpdate) {
    refuseAfter(session, `The session has ended; ${tool.name} was not started.`);
    if (!call || call === session) return tool.execute(toolCallId, params, session, onUpdate);
    refuseAfter(call, `The call was aborted before ${tool.name} started.`);
    const joined = joinSignals(session, call);
    try {
      return await tool.execute(toolCallId, params, joined.signal, onUpdate);
    } finally {
      joined.leave();
    }
  },
}));

function refuseAfter(signal: AbortSignal, text: string): void {
  if (signal.aborted) throw new HarnessError("aborted", text, { cause: signal.reason });
}

/**
 * A signal that follows both, until `leave`. `AbortSignal.any` leaves a reference on its sources for as long as they
 * live, and a session makes many thousand calls.
 */
function joinSignals(session: AbortSignal, call: AbortSignal): { signal: AbortSignal; leave: () => void } {
  const controller = new AbortController();
  const leaves = [session, call].map((source) => followSignal(source, (reason) => controller.abort(reason)));
  return { signal: controller.signal, leave: () => leaves.forEach((leave) => leave()) };
}

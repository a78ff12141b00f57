/** Layer 7: a call ends with its session, and has a context of its own. */
import { oncePerPair } from "@tau/ai/internal";
import { HarnessError } from "../errors.ts";
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
  const leaves = [addFollower(session, controller), addFollower(call, controller)];
  return { signal: controller.signal, leave: () => leaves.forEach((leave) => leave()) };
}

interface Following {
  readonly controllers: Set<AbortController>;
  readonly tell: () => void;
}

/** One listener serves all calls that run at the same time: Node warns of a leak when a signal has more than ten. */
const followed = new WeakMap<AbortSignal, Following>();

function addFollower(source: AbortSignal, controller: AbortController): () => void {
  const following = followed.get(source) ?? startFollowing(source);
  following.controllers.add(controller);
  return () => {
    following.controllers.delete(controller);
    if (following.controllers.size > 0) return;
    source.removeEventListener("abort", following.tell);
    followed.delete(source);
  };
}

function startFollowing(source: AbortSignal): Following {
  const controllers = new Set<AbortController>();
  const tell = () => controllers.forEach((controller) => controller.abort(source.reason));
  source.addEventListener("abort", tell);
  const following = { controllers, tell };
  followed.set(source, following);
  return following;
}

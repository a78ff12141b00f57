/** Follows what a child does, for the lines that people see, and delivers messages of other agents to it. */
import type { ChildSession } from "@tau/extensions";
import type { SessionEvent, WireUsage } from "@tau/protocol";
import { getCallSubject } from "@tau/protocol/surface";
import { toLine } from "./task-arguments.ts";
import type { Agent } from "./tree.ts";

const maxDoingLength = 80;

/** Returns how to stop. */
export function followChild(agent: Agent, child: ChildSession): () => void {
  let tokens = 0;
  const stop = child.onEvent((event) => {
    if (event.type === "agent_start") agent.mailbox.setDelivery((text) => child.steer(text));
    if (event.type === "agent_end") agent.mailbox.setDelivery(undefined);
    if (event.type === "queue_changed") agent.mailbox.setUnread(event.steering.length);
    if (event.type === "message_end") {
      tokens += countTokens(event.usage);
      agent.seenTokens = tokens;
    }
    const doing = describeEvent(event);
    if (doing === undefined || doing === agent.doing) return;
    agent.doing = doing;
    agent.tree.changed();
  });
  return () => {
    stop();
    agent.mailbox.setDelivery(undefined);
    agent.mailbox.clear();
  };
}

const countTokens = ({ inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 }: WireUsage): number =>
  inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;

/** Describes how an agent is busy from this event on; undefined if that has not changed. Pure. */
function describeEvent(event: SessionEvent): string | undefined {
  switch (event.type) {
    case "turn_start":
      return "thinking";
    case "text_delta":
      return "writing";
    case "tool_execution_start":
      return toLine(`${event.toolName} ${getCallSubject(event.input)}`)
        .slice(0, maxDoingLength)
        .toWellFormed();
    case "tool_execution_end":
      return "thinking";
    case "approval_requested":
      return "waiting for an answer";
    case "retry_scheduled":
      return "waiting for the provider";
    case "compaction_start":
      return "summarising its conversation";
    default:
      return undefined;
  }
}

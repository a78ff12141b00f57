import type { Agent } from "@tau/agent";
import type { CurrentRunner } from "./current-runner.ts";
import type { NestedCalls } from "./nested-calls.ts";

/** Lets extensions see calls before the hooks that the agent has already, and results after them, and lets tools call others. */
export function installToolHooks(agent: Agent, extensions: CurrentRunner, calls: NestedCalls): void {
  const { beforeToolCall, afterToolCall, onToolExecution } = agent;
  agent.onToolExecution = (call) => {
    calls.add(call);
    onToolExecution?.(call);
  };
  agent.beforeToolCall = async (context, signal) => {
    const { id: toolCallId, name: toolName } = context.toolCall;
    const event = { type: "tool_call", toolCallId, toolName, input: context.args };
    const verdict = await extensions.runner.emitToolCall(event as never);
    return verdict?.["block"] ? (verdict as { block: true }) : await beforeToolCall?.(context, signal);
  };
  agent.afterToolCall = async (context, signal) => {
    const own = await afterToolCall?.(context, signal);
    const { toolCall, args, result, isError } = context;
    const { content = result.content, details = result.details } = own ?? {};
    const names = { toolCallId: toolCall.id, toolName: toolCall.name, input: args };
    const event = { type: "tool_result", ...names, content, details, isError: own?.isError ?? isError };
    const changes = await extensions.runner.emitToolResult(event as never);
    return changes ? { ...own, ...changes } : own;
  };
}

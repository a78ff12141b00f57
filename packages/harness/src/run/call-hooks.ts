/** Takes every call of a run through extensions, the policy, the log and the limits of a result. */
import type {
  AfterToolCallContext,
  AfterToolCallResult,
  AgentLoopConfig,
  AgentToolResult,
  BeforeToolCallContext,
  BeforeToolCallResult,
} from "@tau/agent";
import { emptyUsage, type ToolCall } from "@tau/ai";
import { addUsage } from "@tau/ai/internal";
import { type DescribedTool, resolvePath } from "@tau/tools";
import { boundResult, maxResultCharacters } from "../request/bound.ts";
import { copyData } from "./copy-messages.ts";
import type { Recorder } from "./recorder.ts";
import type { RunHost } from "./run-host.ts";

type CallHooks = Pick<AgentLoopConfig, "beforeToolCall" | "onToolExecution" | "afterToolCall">;

export function createCallHooks(host: RunHost, recorder: Recorder): CallHooks {
  return {
    beforeToolCall: async (call, abort) => {
      const verdict = await guard(call, abort);
      // What follows a call that waits for an answer is done after it.
      if (verdict?.postpone || (host.questions.hasAsked && call.parentToolCallId === undefined))
        return { postpone: true };
      if (!verdict?.block && (await mayChangeFiles(call, host.cwd))) await host.beforeFilesChange(call.toolCall);
      // Not before: if the program ends while a person is asked, the call has done nothing.
      if (!verdict?.block) await recorder.recordCallStart(call);
      return verdict;
    },
    onToolExecution: (call) => host.calls.add(call),
    afterToolCall: (call) => review(call),
  };

  /** Extensions may change the arguments or block the call; then the policy judges what is left to do. */
  async function guard(call: BeforeToolCallContext, signal?: AbortSignal): Promise<BeforeToolCallResult | undefined> {
    const { extensions, judge } = host;
    await host.restoreResults(call.args as Record<string, unknown>);
    if (extensions?.has("tool_call")) {
      const { id: toolCallId, name: toolName } = call.toolCall;
      const input = call.args as Record<string, unknown>;
      const verdict = await extensions.emit({
        type: "tool_call",
        toolCallId,
        toolName,
        input,
        paths: listPaths(call),
        ...getParent(call),
      });
      if (verdict?.block) return verdict;
    }
    const denied = await extensions?.judgeChanged(call, signal);
    if (denied?.block) return denied;
    return await judge(call, signal);
  }

  /** Extensions may add to the result and change it. Then it is bounded. */
  async function review(finished: AfterToolCallContext): Promise<AfterToolCallResult | undefined> {
    const { extensions } = host;
    if (!finished.isError) host.noteCall({ ...finished.toolCall, arguments: finished.args as ToolCall["arguments"] });
    const added = await collectAdditions(finished);
    // Before `tool_result`: its handlers see all that the model would get.
    const call = added
      ? { ...finished, result: { ...finished.result, content: [...finished.result.content, ...added] } }
      : finished;
    const { toolCall, args, result, isError } = call;
    if (!extensions?.has("tool_result")) {
      const bounded = await bound(call);
      return added ? { content: result.content, ...bounded } : bounded;
    }
    const changed = await extensions.emit({
      type: "tool_result",
      toolCallId: toolCall.id,
      toolName: toolCall.name,
      input: copyData(args as Record<string, unknown>),
      paths: listPaths(call),
      content: copyData(result.content),
      details: copyData(result.details),
      isError,
      ...(result.structuredContent !== undefined && { structuredContent: copyData(result.structuredContent) }),
      ...(result.usage && { usage: copyData(result.usage) }),
      ...getParent(call),
    });
    if (!changed && !added) return await bound(call);
    const { content = result.content, details = result.details } = changed ?? {};
    const bounded = await bound({ ...call, result: { ...result, content, details } });
    return {
      content,
      details,
      ...(changed?.isError !== undefined && { isError: changed.isError }),
      // Data that belongs to other content is removed.
      ...((changed?.structuredContent !== undefined || changed?.content) && {
        structuredContent: changed.structuredContent,
      }),
      ...(changed?.usage && { usage: addUsage(emptyUsage(), changed.usage) }),
      ...bounded,
    };
  }

  /** Collects what is added to a result: instructions for the files, and what extensions say about changes. */
  async function collectAdditions(call: AfterToolCallContext): Promise<AgentToolResult["content"] | undefined> {
    const paths = call.isError ? [] : listPaths(call);
    const instructions = paths.length === 0 ? undefined : await host.findInstructions(paths);
    const changes = await emitChangedFiles(call);
    return instructions ? [...(changes ?? []), instructions] : changes;
  }

  /** Asks extensions what they add to the result of a call that changed files. */
  async function emitChangedFiles(call: AfterToolCallContext): Promise<AgentToolResult["content"] | undefined> {
    const { extensions } = host;
    if (call.isError || !extensions?.has("files_changed")) return undefined;
    const { id: toolCallId, name: toolName } = call.toolCall;
    const paths = toAbsolute(getTouched(call)?.modified ?? []);
    if (paths.length === 0) return undefined;
    const answer = await extensions.emit({ type: "files_changed", paths, toolCallId, toolName, ...getParent(call) });
    return answer?.content?.length ? answer.content : undefined;
  }

  function getTouched({ toolCall, args }: Pick<BeforeToolCallContext, "toolCall" | "args">) {
    return host.touches({ ...toolCall, arguments: args as Record<string, unknown> });
  }

  function listPaths(call: Pick<BeforeToolCallContext, "toolCall" | "args">): string[] {
    const { read = [], modified = [] } = getTouched(call) ?? {};
    return toAbsolute([...read, ...modified]);
  }

  function toAbsolute(paths: readonly string[]): string[] {
    return [...new Set(paths.map((path) => resolvePath(host.cwd, path)))];
  }

  /** Bounds a result to what a request can carry, and adds what the user said when they allowed the call. */
  async function bound({ toolCall, result }: AfterToolCallContext): Promise<AfterToolCallResult | undefined> {
    const { current, keep, getCallMessage } = host;
    const content = await boundResult(result, { maxCharacters: maxResultCharacters(current().model), save: keep });
    const message = getCallMessage(toolCall.id);
    if (message === undefined) return content && { content };
    return {
      content: [...(content ?? result.content), { type: "text", text: `The user allowed this call: ${message}` }],
    };
  }
}

/** Whether a call may change files by itself. A call that was allowed has an access that can be asked for. */
async function mayChangeFiles({ toolCall, args, context }: BeforeToolCallContext, cwd: string): Promise<boolean> {
  const tool: DescribedTool | undefined = context.tools?.find(({ name }) => name === toolCall.name);
  if (tool?.readOnly) return false;
  // Children and nested calls have their own.
  if (!tool?.isContained || !tool.access) return true;
  const wanted = await tool.access(args as Record<string, unknown>, cwd);
  return wanted.some(({ capability }) => capability === "write" || capability === "exec");
}

const getParent = ({ parentToolCallId }: Pick<BeforeToolCallContext, "parentToolCallId">) =>
  parentToolCallId !== undefined && { parentToolCallId };

/** Turns the entries of a session into the updates that show its whole conversation again. Pure. */
import type { ImageContent, TextContent } from "@tau/ai";
import { getTypedContent, type MessageEntry, type SessionEntry } from "@tau/protocol";
import type { ContentBlock, SessionUpdate } from "./schema.generated.ts";
import { type Call, parsePlan, toCallOutput, toOutput } from "./tool-call.ts";
import { describeCall, toChanges, toText, type UpdatesParts } from "./updates.ts";

/** `entries` are those of the branch, oldest first. Calls without a result are shown as failed. */
export function* replay(
  entries: Iterable<SessionEntry>,
  parts: Pick<UpdatesParts, "cwd" | "findTool" | "client">,
): Generator<SessionUpdate> {
  const calls = new Map<string, Call>();
  let name: string | undefined;
  for (const entry of entries) {
    if (entry.type === "message") yield* replayMessage(entry, calls, parts);
    else if (entry.type === "custom_message" && entry.display) yield* toText(entry.id, entry.content);
    else if (entry.type === "session_info") name = entry.name;
    else if (entry.type === "compaction" && parts.client.compaction) {
      const summary: ContentBlock[] = [{ type: "text", text: entry.summary }];
      yield { sessionUpdate: "compaction_update", compactionId: entry.id, status: "completed", summary };
    }
  }
  for (const toolCallId of calls.keys()) {
    const content = toOutput("The call has no result: the run was cut.", undefined);
    yield { sessionUpdate: "tool_call_update", toolCallId, status: "failed", content };
  }
  if (name !== undefined) yield { sessionUpdate: "session_info_update", title: name };
}

function* replayMessage(
  { id: messageId, message, silent }: MessageEntry,
  calls: Map<string, Call>,
  { cwd, findTool }: Pick<UpdatesParts, "cwd" | "findTool">,
): Generator<SessionUpdate> {
  switch (message.role) {
    case "user":
      for (const content of toBlocks(message.content))
        yield { sessionUpdate: "user_message_chunk", messageId, content };
      return;
    case "assistant":
      for (const block of message.content) {
        if (block.type === "toolCall") {
          const call: Call = { name: block.name, input: block.arguments, tool: findTool(block.name), cwd };
          calls.set(block.id, call);
          yield { sessionUpdate: "tool_call", toolCallId: block.id, ...describeCall(call), status: "in_progress" };
        } else if (block.type === "thinking" && block.thinking !== "") {
          const content: ContentBlock = { type: "text", text: block.thinking };
          yield { sessionUpdate: "agent_thought_chunk", messageId, content };
        } else if (block.type === "text" && block.text !== "" && silent !== true) {
          yield { sessionUpdate: "agent_message_chunk", messageId, content: { type: "text", text: block.text } };
        }
      }
      return;
    case "toolResult": {
      const { toolCallId, isError, content, details } = message;
      const call = calls.get(toolCallId);
      if (!call) return;
      calls.delete(toolCallId);
      const text = content.map((block) => (block.type === "text" ? block.text : "")).join("");
      const status = isError ? "failed" : "completed";
      yield { sessionUpdate: "tool_call_update", toolCallId, status, content: toCallOutput(text, call) };
      yield* toChanges(toolCallId, call, message);
      const plan = isError ? undefined : parsePlan(details);
      if (plan) yield { sessionUpdate: "plan", entries: plan };
      return;
    }
    case "bashExecution": {
      const { command, output, exitCode } = message;
      const call = {
        toolCallId: messageId,
        title: command,
        kind: "execute",
        status: exitCode === 0 ? "completed" : "failed",
      } as const;
      yield {
        sessionUpdate: "tool_call",
        ...call,
        content: toOutput(output, { label: "", shows: "command", readOnly: false }),
      };
      return;
    }
    case "custom":
    case "branchSummary":
    case "compactionSummary":
      return;
    default:
      // A log may have been written by a later version.
      message satisfies never;
  }
}

/** The text and images that a person has sent, without the files that were read for them. */
function toBlocks(content: string | readonly (TextContent | ImageContent)[]): ContentBlock[] {
  const { text, images } = getTypedContent<ImageContent>(content);
  return [
    ...(text === "" ? [] : [{ type: "text", text } as const]),
    ...images.map(({ data, mimeType }) => ({ type: "image", data, mimeType }) as const),
  ];
}

/** Describes events as hooks read them from their standard input: in Claude Code's fields. Pure. */
import type { ExtensionContext, ExtensionEvent } from "@tau/extensions";
import type { PermissionMode } from "@tau/protocol";
import type { HookEventName } from "./events.ts";
import { describeCall } from "./tool-names.ts";

const permissionModes: Readonly<Record<PermissionMode, string>> = {
  ask: "default",
  edit: "acceptEdits",
  plan: "plan",
  free: "bypassPermissions",
};

export function describeSession(
  event: HookEventName,
  { sessionManager, cwd, model }: Pick<ExtensionContext, "sessionManager" | "cwd" | "model">,
  mode: PermissionMode,
): Record<string, unknown> {
  return {
    session_id: sessionManager.getSessionId(),
    transcript_path: sessionManager.getSessionFile() ?? "",
    cwd,
    permission_mode: permissionModes[mode],
    hook_event_name: event,
    ...(model && { model: `${model.provider}/${model.id}` }),
  };
}

type ToolCall = Pick<ExtensionEvent<"tool_call">, "toolCallId" | "toolName" | "input">;

export const describeToolCall = ({ toolCallId, toolName, input }: ToolCall, cwd: string): Record<string, unknown> => ({
  ...describeCall(toolName, input, cwd),
  tool_use_id: toolCallId,
});

/** A longer result is cut: hooks decide by what was done, and the whole of it may be large. */
const maxResponseCharacters = 100_000;

export function describeResult(event: ExtensionEvent<"tool_result">, cwd: string): Record<string, unknown> {
  const text = event.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  const shown = text.slice(0, maxResponseCharacters);
  const response = event.isError ? { error: shown } : {};
  const { tool_input: input } = describeCall(event.toolName, event.input, cwd);
  const path = (input as Record<string, unknown>)["file_path"];
  return {
    ...describeToolCall(event, cwd),
    ...response,
    tool_response: { success: !event.isError, content: shown, ...(typeof path === "string" && { filePath: path }) },
  };
}

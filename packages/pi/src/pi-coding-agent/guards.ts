/** Distinguishes events and results by the tool that they belong to. */
interface ToolEvent {
  toolName: string;
}

export const isToolCallEventType = (toolName: string, event: ToolEvent): boolean => event.toolName === toolName;

const isResultOf =
  (toolName: string) =>
  (event: ToolEvent): boolean =>
    event.toolName === toolName;

export const isBashToolResult = isResultOf("bash");
export const isEditToolResult = isResultOf("edit");
export const isFindToolResult = isResultOf("find");
export const isGrepToolResult = isResultOf("grep");
export const isLsToolResult = isResultOf("ls");
export const isPowerShellToolResult = isResultOf("powershell");
export const isReadToolResult = isResultOf("read");
export const isWriteToolResult = isResultOf("write");

/** Gives a tool its types. */
export const defineTool = <TTool>(tool: TTool): TTool => tool;

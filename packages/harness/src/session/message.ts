/** The messages that a session adds to those of the engine, and what a model is sent for each. */
import type { AgentMessage } from "@tau/agent";
import type { AssistantMessage, ImageContent, Message, TextContent } from "@tau/ai";
import type {
  BashExecutionMessage,
  BranchSummaryMessage,
  CompactionSummaryMessage,
  CustomMessage,
} from "@tau/protocol";
import { fenced } from "../fence.ts";
import { asText } from "../compaction/text.ts";
import { enclose } from "@tau/config/internal";

declare module "@tau/agent" {
  interface CustomAgentMessages {
    bashExecution: BashExecutionMessage;
    custom: CustomMessage;
    branchSummary: BranchSummaryMessage;
    compactionSummary: CompactionSummaryMessage;
  }
}

/** Whether a message is an answer that neither failed nor was aborted. */
export const isFinishedAnswer = (message: AgentMessage | undefined): message is AssistantMessage =>
  message?.role === "assistant" && message.stopReason !== "error" && message.stopReason !== "aborted";

/** The messages of a transcript as a model is sent them. Messages with unknown roles are left out. */
export function convertToLlm(messages: AgentMessage[]): Message[] {
  const converted: Message[] = [];
  for (const message of messages) {
    const sent = toLlm(message);
    if (sent) converted.push(sent);
  }
  return converted;
}

function toLlm(message: AgentMessage): Message | undefined {
  switch (message.role) {
    case "user":
    case "assistant":
    case "toolResult":
      return message;
    case "bashExecution":
      return message.excludeFromContext ? undefined : userMessage(bashText(message), message.timestamp);
    case "custom":
      return userMessage(message.content, message.timestamp);
    case "branchSummary":
      return userMessage(summaryText("branch_summary", branchIntroduction, message.summary), message.timestamp);
    case "compactionSummary":
      return userMessage(summaryText("summary", compactionIntroduction, message.summary), message.timestamp);
    default:
      return undefined;
  }
}

const compactionIntroduction = "Earlier parts of this conversation were replaced by this summary:";
const branchIntroduction = "Another approach was tried before and then abandoned. This is a summary of it:";

const summaryText = (tag: string, introduction: string, summary: unknown) =>
  `${introduction}\n\n${enclose(tag, {}, asText(summary))}`;

const userMessage = (content: string | (TextContent | ImageContent)[], timestamp: number): Message => ({
  role: "user",
  content: typeof content === "string" ? [{ type: "text", text: content }] : content,
  timestamp,
});

function bashText({ command, output, exitCode, cancelled, truncated, fullOutputPath }: BashExecutionMessage): string {
  const parts = [
    `I ran this command:\n\n${fenced(asText(command))}`,
    output ? `Output:\n\n${fenced(asText(output))}` : "(no output)",
  ];
  if (cancelled) parts.push("(cancelled)");
  else if (typeof exitCode === "number" && exitCode !== 0) parts.push(`It exited with code ${exitCode}.`);
  if (truncated && fullOutputPath) parts.push(`[The output is truncated. Full output: ${fullOutputPath}]`);
  return parts.join("\n\n");
}

/** The messages that a session adds to the engine's, and what a model is sent for each. */
import type { AgentMessage } from "@tau/agent";
import type { ImageContent, Message, TextContent } from "@tau/ai";
import type {
  BashExecutionMessage,
  BranchSummaryMessage,
  CompactionSummaryMessage,
  CustomMessage,
} from "@tau/protocol";
import { fenced } from "../fence.ts";

declare module "@tau/agent" {
  interface CustomAgentMessages {
    bashExecution: BashExecutionMessage;
    custom: CustomMessage;
    branchSummary: BranchSummaryMessage;
    compactionSummary: CompactionSummaryMessage;
  }
}

/** What a model is sent for a transcript. Messages of other applications' own are left out. */
export function convertToLlm(messages: AgentMessage[]): Message[] {
  const sent: Message[] = [];
  for (const message of messages) {
    const converted = toLlm(message);
    if (converted) sent.push(converted);
  }
  return sent;
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
      return userMessage(tagged("branch_summary", branchIntroduction, getText(message.summary)), message.timestamp);
    case "compactionSummary":
      return userMessage(tagged("summary", compactionIntroduction, getText(message.summary)), message.timestamp);
    default:
      return undefined;
  }
}

const compactionIntroduction = "Earlier parts of this conversation were replaced by this summary of them:";
const branchIntroduction = "Before this point another way was tried and left. This is a summary of it:";

const tagged = (tag: string, introduction: string, text: string) => `${introduction}\n\n<${tag}>\n${text}\n</${tag}>`;

const userMessage = (content: string | (TextContent | ImageContent)[], timestamp: number): Message => ({
  role: "user",
  content: typeof content === "string" ? [{ type: "text", text: content }] : content,
  timestamp,
});

/** A command and what came of it, for the model. */
function bashText({ command, output, exitCode, cancelled, truncated, fullOutputPath }: BashExecutionMessage): string {
  const parts = [
    `I ran this command:\n\n${fenced(getText(command))}`,
    output ? `Output:\n\n${fenced(getText(output))}` : "(no output)",
  ];
  if (cancelled) parts.push("(cancelled)");
  else if (typeof exitCode === "number" && exitCode !== 0) parts.push(`It exited with code ${exitCode}.`);
  if (truncated && fullOutputPath) parts.push(`[The output is cut; all of it is in ${fullOutputPath}]`);
  return parts.join("\n\n");
}

/** What comes from a log that somebody edited may be no text at all. */
const getText = (given: unknown): string => (typeof given === "string" ? given : "");

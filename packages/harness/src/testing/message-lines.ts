/** Formats messages as lines. Pure. */
import type { AgentMessage } from "@tau/agent";
import type { AssistantMessage } from "@tau/ai";
import { isSilent } from "../run/silent.ts";
import type { Formatter } from "./formatter.ts";

export function messageLines(message: AgentMessage, format: Formatter): string[] {
  switch (message.role) {
    case "user":
      return [`user: ${format.text(contentText(message.content))}`];
    case "assistant":
      return answerLines(message, format);
    case "toolResult": {
      const mark = message.isError ? " (error)" : "";
      return [`result ${format.text(message.toolName)}${mark}: ${format.text(contentText(message.content))}`];
    }
    case "bashExecution": {
      const status = message.cancelled ? " (cancelled)" : message.exitCode ? ` (exit ${message.exitCode})` : "";
      return [`ran ${format.text(message.command)}${status}: ${format.text(message.output)}`];
    }
    case "custom":
      return [`custom ${format.text(message.customType)}: ${format.text(contentText(message.content))}`];
    case "branchSummary":
      return [`branch summary: ${format.text(message.summary)}`];
    case "compactionSummary":
      return [`summary: ${format.text(message.summary)}`];
    default: {
      message satisfies never;
      // A message that an application has added.
      const { role, timestamp: _timestamp, ...rest } = message as { role: string; timestamp?: unknown };
      return [`${format.text(role)}: ${format.json(rest)}`];
    }
  }
}

function answerLines(message: AssistantMessage, format: Formatter): string[] {
  const speaker = isSilent(message) ? "assistant (silent)" : "assistant";
  const lines = toBlocks(message.content).map((block) => {
    switch (block.type) {
      case "text":
        return `${speaker}: ${format.text(block.text)}`;
      case "thinking":
        return block.redacted ? "thinking (redacted)" : `thinking: ${format.text(block.thinking)}`;
      case "toolCall": {
        const mark = block.argumentsError === undefined ? "" : " (arguments cannot be read)";
        return `call ${format.text(block.name)} ${format.json(block.arguments)}${mark}`;
      }
      default:
        return block satisfies never;
    }
  });
  const { stopReason, failure, errorMessage = "" } = message;
  if (stopReason === "length") return [...lines, "cut: the answer reached its length limit"];
  if (stopReason === "error" || stopReason === "aborted")
    return [...lines, failureLine(failure?.kind ?? stopReason, failure?.message ?? errorMessage, format)];
  return lines.length > 0 ? lines : ["assistant: (no content)"];
}

export const failureLine = (kind: string, message: string, format: Formatter): string =>
  `failed ${format.text(kind)}: ${format.text(message)}`;

type Blocks = readonly ({ type: "text"; text: string } | { type: "image"; mimeType: string })[];

export const contentText = (content: string | Blocks): string =>
  typeof content === "string"
    ? content
    : toBlocks(content)
        .map((block) => (block.type === "text" ? block.text : `[image ${block.mimeType}]`))
        .join("\n");

/** Content from a log is not validated. */
const toBlocks = <T>(content: readonly T[]): readonly T[] => (Array.isArray(content) ? content : []);

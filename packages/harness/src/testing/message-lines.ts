/** Messages as readable lines. Pure. */
import type { AgentMessage } from "@tau/agent";
import type { AssistantMessage } from "@tau/ai";
import { isSilent } from "../run/silent.ts";
import type { Show } from "./show.ts";

export function messageLines(message: AgentMessage, show: Show): string[] {
  switch (message.role) {
    case "user":
      return [`user: ${show.text(contentText(message.content))}`];
    case "assistant":
      return answerLines(message, show);
    case "toolResult": {
      const mark = message.isError ? " (error)" : "";
      return [`result ${show.text(message.toolName)}${mark}: ${show.text(contentText(message.content))}`];
    }
    case "bashExecution": {
      const status = message.cancelled ? " (cancelled)" : message.exitCode ? ` (exit ${message.exitCode})` : "";
      return [`ran ${show.text(message.command)}${status}: ${show.text(message.output)}`];
    }
    case "custom":
      return [`custom ${show.text(message.customType)}: ${show.text(contentText(message.content))}`];
    case "branchSummary":
      return [`branch summary: ${show.text(message.summary)}`];
    case "compactionSummary":
      return [`summary: ${show.text(message.summary)}`];
    default:
      message satisfies never;
      return ownLines(message, show);
  }
}

/** Messages that an application has added to the engine's. */
function ownLines(message: { role: string; timestamp?: unknown }, show: Show): string[] {
  const { role, timestamp: _time, ...rest } = message;
  return [`${show.text(role)}: ${show.json(rest)}`];
}

function answerLines(message: AssistantMessage, show: Show): string[] {
  const speaker = isSilent(message) ? "assistant (silent)" : "assistant";
  const lines = getBlocks(message.content).map((block) => {
    switch (block.type) {
      case "text":
        return `${speaker}: ${show.text(block.text)}`;
      case "thinking":
        return block.redacted ? "thinking (redacted)" : `thinking: ${show.text(block.thinking)}`;
      case "toolCall": {
        const mark = block.argumentsError === undefined ? "" : " (arguments cannot be read)";
        return `call ${show.text(block.name)} ${show.json(block.arguments)}${mark}`;
      }
      default:
        return block satisfies never;
    }
  });
  const end = endOfAnswer(message, show);
  if (end !== undefined) return [...lines, end];
  return lines.length > 0 ? lines : ["assistant says nothing"];
}

/** Undefined for an answer that ended as answers do. */
function endOfAnswer({ stopReason, failure, errorMessage = "" }: AssistantMessage, show: Show): string | undefined {
  if (stopReason === "length") return "cut: the answer reached its longest length";
  if (stopReason !== "error" && stopReason !== "aborted") return undefined;
  return failureLine(failure?.kind ?? stopReason, failure?.message ?? errorMessage, show);
}

export const failureLine = (kind: string, message: string, show: Show): string =>
  `failed ${show.text(kind)}: ${show.text(message)}`;

type Blocks = readonly ({ type: "text"; text: string } | { type: "image"; mimeType: string })[];

export const contentText = (content: string | Blocks): string =>
  typeof content === "string"
    ? content
    : getBlocks(content)
        .map((block) => (block.type === "text" ? block.text : `[image ${block.mimeType}]`))
        .join("\n");

/** Logs are read without being checked: what should be a list may be anything. */
const getBlocks = <T>(content: readonly T[]): readonly T[] => (Array.isArray(content) ? content : []);

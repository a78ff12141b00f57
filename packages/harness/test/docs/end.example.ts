import type { RunEnd } from "@tau/protocol";

export function formatEnd(end: RunEnd): string {
  switch (end.kind) {
    case "done":
      return "The answer is complete.";
    case "length":
      return "The answer reached its length limit.";
    case "budget":
      return `The budget is spent: ${end.limit}.`;
    case "stopped":
      return `The run was stopped: ${end.by}.`;
    case "asked":
      return `The run waits for ${end.questions.length} answers.`;
    case "timeout":
      return "The run took too long.";
    case "aborted":
      return `The run was aborted (${end.by}): ${end.reason ?? "no reason given"}.`;
    case "disconnected":
      return "The connection to the gateway was lost.";
    case "idle":
    case "failed":
      return `The run failed: ${end.failure.message}`;
  }
}

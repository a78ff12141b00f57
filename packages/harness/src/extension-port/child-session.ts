/** A child as the extension that started it sees it. */
import { HarnessError } from "@tau/protocol";
import { emptyUsage } from "@tau/ai";
import { joinTextBlocks } from "@tau/ai/internal";
import type { ChildOutcome, ChildSession } from "@tau/extensions";
import { sumUsage } from "../run/sum-usage.ts";
import type { RunOutcome } from "../run/run.ts";
import type { PortChild } from "./port-session.ts";

export function createChildSession(session: PortChild, close: () => Promise<void>): ChildSession {
  return {
    id: session.sessionId,
    file: session.sessionFile,
    async prompt(text, { signal } = {}) {
      const abort = () => void session.abort(signal?.reason);
      signal?.addEventListener("abort", abort, { once: true });
      try {
        if (signal?.aborted)
          return {
            kind: "aborted",
            text: "",
            reason: "It was aborted before it began.",
            usage: emptyUsage(),
            filesChanged: [],
          };
        const outcome = await session.prompt(text);
        if (outcome.kind === "ran")
          return { ...describeOutcome(outcome), filesChanged: session.listChangedFiles(outcome.messages) };
        throw new HarnessError("busy", "A run of the child is in progress. Steer it, or wait for its end.");
      } finally {
        signal?.removeEventListener("abort", abort);
      }
    },
    async steer(text) {
      await session.submit(text, { queue: "steer", source: "extension" });
    },
    abort: () => session.abort(),
    getMessages: () => session.messages,
    onEvent: (listener) => session.onSessionEvent(listener),
    close,
  };
}

/** Pure. */
function describeOutcome({
  end,
  terminationReason,
  detail,
  failure,
  answer,
  messages,
}: RunOutcome): Omit<ChildOutcome, "filesChanged"> {
  const text = answer ? joinTextBlocks(answer.content) : "";
  const usage = sumUsage(messages);
  if ((end.kind === "done" || end.kind === "stopped") && answer) return { kind: "done", text, usage };
  const reason = failure?.message ?? detail ?? `The run ended for the reason ${terminationReason}.`;
  return { kind: end.kind === "aborted" ? "aborted" : "failed", text, reason, usage };
}

/** Advises a person about an answer that is of no use. Pure. */
import type { AssistantMessage } from "@tau/ai";

/** The commands that the person has at hand: slash commands, or only the options of the program. */
export type AdviceSurface = "session" | "program";

type FailureKind = NonNullable<AssistantMessage["failure"]>["kind"];

const byFailure: Partial<Record<FailureKind, Record<AdviceSurface, string>>> = {
  // Only seen after a compaction: before it, the conversation is compacted and sent again.
  context_overflow: {
    session:
      "The conversation does not fit into this model, also after compaction. Begin a new one with /new, or choose a model with a larger context window with /model.",
    program:
      "The conversation does not fit into this model, also after compaction. Begin a new session, or choose a model with a larger context window with --model.",
  },
  billing: {
    session: "To continue with another model: /model",
    program: "To use another model: --model",
  },
};

/** A sentence to follow the failure's own message; undefined if there is nothing to add. */
export const getFailureAdvice = (kind: string | undefined, surface: AdviceSurface): string | undefined =>
  Object.hasOwn(byFailure, kind ?? "") ? byFailure[kind as FailureKind]?.[surface] : undefined;

/** Whether a complete answer has neither text nor a call. Thinking is ignored. */
export const isEmptyAnswer = ({ stopReason, content }: Pick<AssistantMessage, "stopReason" | "content">): boolean =>
  stopReason === "stop" &&
  !content.some(({ type, ...block }) => type === "toolCall" || ("text" in block && block.text.trim() !== ""));

/** Shown for an answer without text and without calls. */
export const emptyAnswerText = "The answer is empty. Ask again, or choose another model with /model.";

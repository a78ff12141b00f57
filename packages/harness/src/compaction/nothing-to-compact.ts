/** Why a conversation was not compacted, as a sentence for people. */

const whyNothingToCompact: Readonly<Record<string, string>> = {
  empty: "the conversation is empty",
  too_small: "the conversation is too short for a summary to save anything",
  no_progress: "several compactions in a row did not lead to an answer",
  cannot_shrink: "what has to be kept leaves no space for a summary",
};

export const formatNothingToCompact = (reason: string): string =>
  `Nothing was compacted: ${whyNothingToCompact[reason] ?? reason}.`;

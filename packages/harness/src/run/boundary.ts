/** Applies what extensions add to a session at the end of a turn or of a run. */
import type { AgentMessage } from "@tau/agent";
import type { CustomMessage } from "@tau/protocol";
import type { BoundaryResult, BoundaryState, EntryDraft } from "@tau/extensions";
import { convertToLlm } from "../session/message.ts";
import { copyMessages } from "./copy-messages.ts";
import type { RunHost } from "./run-host.ts";

type BoundaryHost = Pick<RunHost, "session" | "transcript" | "clock">;

/** Describes to handlers where the session stands. */
export function describeBoundary(
  { transcript }: BoundaryHost,
  outcome: BoundaryState["outcome"],
): Pick<BoundaryState, "entries" | "continue" | "context" | "outcome"> {
  let messages: AgentMessage[] | undefined;
  const copy = () => (messages ??= copyMessages(transcript.messages));
  return {
    entries: [],
    continue: false,
    outcome,
    context: {
      // Copied for a handler that looks at them, since a conversation is long.
      get contextMessages() {
        return copy();
      },
      get llmMessages() {
        return convertToLlm(copy());
      },
      pendingMessages: [],
      canContinue: transcript.last !== undefined && transcript.last.role !== "assistant",
    },
  };
}

export interface AppliedBoundary {
  /** Extensions ask for one more request, and there is something to answer. */
  continues: boolean;
  /** The messages that a request is made of were changed, not only added to. */
  isContextChanged: boolean;
}

/** Appends what handlers asked for. A message is in the transcript as soon as it is in the log. */
export async function applyBoundary(
  host: BoundaryHost,
  { entries = [], continue: wantsMore = false }: BoundaryResult,
): Promise<AppliedBoundary> {
  for (const entry of entries) await appendDraft(host, entry);
  const isContextChanged = entries.some(({ type }) => type === "context_edit" || type === "compaction");
  if (isContextChanged) await host.transcript.load(host.session);
  const { last } = host.transcript;
  return { continues: wantsMore && last !== undefined && last.role !== "assistant", isContextChanged };
}

async function appendDraft({ session, transcript, clock }: BoundaryHost, entry: EntryDraft): Promise<void> {
  switch (entry.type) {
    case "custom":
      return void (await session.appendCustomEntry(entry.customType, entry.data));
    case "custom_message": {
      await session.append(entry);
      const { type: _type, ...fields } = entry;
      const message: CustomMessage = { role: "custom", ...fields, timestamp: clock.now() };
      return transcript.add(message);
    }
    case "context_edit":
      return void (await session.appendContextEdit(entry.targetId, entry.replacement));
    case "compaction": {
      const { summary, firstKeptEntryId, details, usage } = entry;
      const extras = { details, usage };
      return void (await session.appendCompaction(summary, firstKeptEntryId, transcript.tokens, extras));
    }
  }
}

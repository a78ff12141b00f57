/** Answers that nobody is to be shown. */
import type { AssistantMessage } from "@tau/ai";

/** Answers of an agent that was woken and has nothing to report. */
const silentTexts: ReadonlySet<string> = new Set(["__SILENT__", "HEARTBEAT_OK"]);

/**
 * Whether all that an answer says is that it says nothing: one of the two words, spaces and line breaks around it
 * aside. One that calls a tool is never silent, whatever it says. Its thinking is ignored.
 */
export function isSilent(message: AssistantMessage): boolean {
  // Logs are read without being checked.
  if (!Array.isArray(message.content)) return false;
  let text = "";
  for (const block of message.content) {
    if (block?.type === "toolCall") return false;
    if (block?.type === "text") text += block.text;
  }
  return silentTexts.has(text.trim());
}

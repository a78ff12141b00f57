/** Sends a prompt, and says how it ended. */
import type { OutputCheck } from "@tau/ai/internal";
import type { PromptEnd } from "@tau/protocol";
import type { PromptRun } from "../agent-session/activity.ts";
import type { SubmitOptions } from "../agent-session/prompts.ts";
import { isSilent } from "../run/silent.ts";
import { getMessageText } from "./data.ts";
import type { HostedSession } from "./hosted-session.ts";

/** `handled`: an extension dealt with the prompt. It may have started a run, whose answer is that of the prompt then. */
export async function runPrompt(
  hosted: HostedSession,
  text: string,
  options: SubmitOptions,
): Promise<PromptEnd & { handled?: true; output?: OutputCheck }> {
  const { session } = hosted;
  const before = session.messages.length;
  const outcome = await hosted.run(text, options);
  if (outcome) return toPromptEnd(outcome);
  await session.waitForIdle();
  const messages = session.messages.slice(before);
  const answer = messages.findLast((message) => message.role === "assistant");
  return { ...toPromptEnd({ end: { kind: "done" }, answer, messages }), handled: true };
}

type Ended = Pick<PromptRun, "end" | "answer" | "messages" | "output">;

/** Pure. */
function toPromptEnd(ended: Ended): PromptEnd & { output?: OutputCheck } {
  const answer = getAnswer(ended);
  const isSilence = answer.trim() === "" && (!ended.answer || isSilent(ended.answer));
  const { end, output } = ended;
  return { answer, end, ...(isSilence && { silent: true }), ...(output && { output }) };
}

/** Empty if the run was interrupted or failed: text before a tool call is not an answer. */
function getAnswer({ end, answer, messages }: Ended): string {
  const isOver = end.kind === "done" || end.kind === "stopped" || end.kind === "length" || end.kind === "budget";
  if (!isOver) return "";
  if (!answer) return messages.flatMap(getShownText).join("\n");
  if (isSilent(answer)) return "";
  if (answer.content.some(({ type }) => type === "toolCall")) return "";
  return answer.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

/** A message that an extension shows instead of an answer. */
const getShownText = (message: PromptRun["messages"][number]): string[] =>
  message.role === "custom" && message.display ? [getMessageText(message)] : [];

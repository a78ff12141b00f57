/**
 * `/side TASK` gives a task to a session of its own, which knows nothing of this conversation and does not fill its context.
 * When the task is done, you are back in this session, and its answer is a message here, which the model sees too.
 */
import type { ExtensionAPI, ReplacedSessionContext } from "@tau/extensions";

const messageType = "side-task";

export default function sideTask(tau: ExtensionAPI): void {
  tau.registerCommand("side", {
    description: "Do a task in a session of its own, and bring back the answer",
    async handler(task, context) {
      const home = context.sessionManager.getSessionFile();
      if (task.trim() === "") return context.ui.notify("Say what is to be done: /side TASK", "warning");
      if (home === undefined) return context.ui.notify("This session is not kept, so it cannot be left.", "error");
      await context.waitForIdle();
      // From here on only the context of the new session works.
      await context.newSession({ parentSession: home, withSession: (side) => work(side, task.trim(), home) });
    },
  });
}

async function work(side: ReplacedSessionContext, task: string, home: string): Promise<void> {
  await side.sendUserMessage(task);
  await side.waitForIdle();
  const answer = getAnswer(side) || "(no answer)";
  await side.switchSession(home, {
    withSession: (back) =>
      back.sendMessage({ customType: messageType, content: `Side task: ${task}\n\n${answer}`, display: true }),
  });
}

/** The text of the last answer. */
function getAnswer({ sessionManager }: ReplacedSessionContext): string {
  const messages = sessionManager
    .getBranch()
    .flatMap((entry) => (entry.type === "message" && entry.message.role === "assistant" ? [entry.message] : []));
  const blocks = messages.at(-1)?.content ?? [];
  return blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

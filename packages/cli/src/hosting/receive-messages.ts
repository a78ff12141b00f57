/** Takes the messages that other programs send to a session of this process. */
import { systemClock } from "@tau/ai";
import { getErrorMessage, SerialQueue } from "@tau/ai/internal";
import { watchFiles } from "@tau/config/settings";
import type { HostedSession } from "@tau/harness/host";
import { formatSentMessage } from "@tau/protocol/surface";
import { Spool } from "./spool.ts";

/** A session that is shown again must not take a message twice that is still on its way into the log. */
const queues = new WeakMap<HostedSession, SerialQueue>();

/** Returns how to stop. Does nothing for a session that is in no file, or that another process writes. */
export function receiveMessages(hosted: HostedSession, agentDir: string): () => void {
  const { session } = hosted;
  if (session.sessionFile === undefined || session.sessionManager.readOnly) return () => {};
  const spool = new Spool({ agentDir });
  const queue = queues.get(hosted) ?? new SerialQueue();
  queues.set(hosted, queue);
  /** Messages that the session has refused. They stay where they are. */
  const refused = new Set<string>();
  let isStopped = false;

  const report = (error: unknown) => session.notify("messages", getErrorMessage(error));
  const look = () => void queue.add(takeAll).catch(report);
  const takeAll = async () => {
    for (const { name, id, state } of await spool.list(session.sessionId)) {
      if (isStopped || (await isWaitingForAnswer())) return;
      if (refused.has(name) || (state === "waiting" && !(await spool.take(name)))) continue;
      await use(name, id);
    }
  };
  /** A message must not be taken for the answer to a question, and the run of one would end the call that waits. */
  const isWaitingForAnswer = async () => !session.isStreaming && (await session.getQuestions()).length > 0;
  const use = async (name: string, id: string) => {
    const known = await session.sessionManager.findQueued(new Set([id]));
    const message = known.has(id) ? undefined : await spool.read(name);
    try {
      if (message) await submit(id, message);
      else if (!known.has(id))
        session.notify("messages", "A message from another program was damaged, and was removed.");
    } catch (error) {
      refused.add(name);
      await spool.giveBack(name);
      throw new Error(`A message from another program was not taken: ${getErrorMessage(error)}`, { cause: error });
    }
    await spool.finish(name);
  };
  const submit = async (messageId: string, { sender, text }: { sender: string; text: string }) => {
    const submission = await hosted.submit(formatSentMessage(sender, text), { queue: "followUp", messageId, sender });
    // A run that fails reports it in its events.
    if (submission.disposition === "started") submission.outcome.catch(() => {});
  };

  const watch = watchFiles([spool.directory], { clock: systemClock, onChange: look, onError: report });
  const stopListening = session.onSessionEvent(({ type }) => {
    if (type === "approval_resolved" || type === "agent_end") look();
  });
  return () => {
    isStopped = true;
    watch.close();
    stopListening();
  };
}

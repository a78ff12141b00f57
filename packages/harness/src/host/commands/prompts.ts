/** Commands that talk to the model, and to those who are asked about calls. */
import { withoutUndefined } from "@tau/ai/internal";
import { approvalChoices, getTypedContent, type RunEnd, toTermination, HarnessError } from "@tau/protocol";
import { formatSentMessage } from "@tau/protocol/surface";
import { flag, image, list, nonEmptyText, oneOf, optional, text } from "@tau/config/fields";
import type { SubmitOptions } from "../../agent-session/prompts.ts";
import { approve } from "../approve.ts";
import { runPrompt } from "../run-prompt.ts";
import { command, type CommandContext, type CommandOptions, type SomeCommands, longCommand } from "./command.ts";

const imageList = optional(list(image));
const executeFields = {
  prompt: text,
  images: imageList,
  input: optional(text),
  files: optional(list(nonEmptyText)),
  outcome: optional(flag),
};

function mustHaveAnswer(end: RunEnd): void {
  if ("failure" in end) throw new HarnessError("run_failed", end.failure.message);
  if (["aborted", "disconnected", "timeout"].includes(end.kind))
    throw new HarnessError("aborted", "The run ended before its answer.");
}

async function submit({ hosted, session, options }: CommandContext, message: string, content: SubmitOptions) {
  const source = session.extensions?.surface?.mode === "tui" ? "interactive" : "rpc";
  const submission = await hosted.submit(message, { ...content, source, ...getScopes(options) });
  // A run that fails reports it in its events.
  if (submission.disposition === "started") submission.outcome.catch(() => {});
  const { disposition, notices } = submission;
  return {
    disposition,
    ...(disposition === "queued" && { id: submission.id }),
    ...(notices && { notices: [...notices] }),
  };
}

const getScopes = ({ scopes }: CommandOptions) => (scopes ? { scopes } : {});

export const promptCommands = {
  initialize: command(
    { approvals: optional(flag), ui: optional(flag) },
    ({ options }, { approvals = false, ui = false }) => {
      options.onInitialize?.({ approvals, ui });
      return { approvals, ui };
    },
  ),
  prompt: longCommand(
    { message: text, images: imageList, streamingBehavior: optional(oneOf("steer", "followUp")) },
    (context, { message, images, streamingBehavior: queue }) =>
      submit(context, message, withoutUndefined({ images, queue })),
  ),
  steer: longCommand(
    { message: text, images: imageList, interrupt: optional(flag) },
    (context, { message, images, interrupt = false }) =>
      submit(context, message, { ...withoutUndefined({ images }), queue: "steer", interrupt }),
  ),
  follow_up: longCommand(
    { message: text, images: imageList, sender: optional(nonEmptyText) },
    (context, { message, images, sender }) =>
      submit(context, sender === undefined ? message : formatSentMessage(sender, message), {
        ...withoutUndefined({ images, sender }),
        queue: "followUp",
      }),
  ),
  execute: longCommand(executeFields, async ({ hosted, options }, { prompt, outcome = false, ...content }) => {
    const ended = await runPrompt(hosted, prompt, { ...withoutUndefined(content), ...getScopes(options) });
    const { handled, ...data } = ended;
    if (!outcome) mustHaveAnswer(data.end);
    return { ...data, ...toTermination(data.end), ...(handled && { detail: "handled" }) };
  }),
  abort: longCommand({}, ({ hosted }) => hosted.abort()),
  abort_retry: command({}, ({ session }) => session.abortRetry()),
  clear_queue: command({}, async ({ session }) => {
    const { steering, followUps } = await session.clearQueue();
    const getText = ({ content }: (typeof steering)[number]) => getTypedContent(content).text;
    return { steering: steering.map(getText), followUp: followUps.map(getText) };
  }),
  edit_queued: command({ id: nonEmptyText, message: text }, async ({ session }, { id, message }) => ({
    id: await session.editQueued(id, message),
  })),
  remove_queued: command({ id: nonEmptyText }, async ({ session }, { id }) => ({
    removed: await session.removeQueued(id),
  })),
  approve: command(
    {
      approvalId: nonEmptyText,
      decision: oneOf("allow", "deny"),
      choice: optional(oneOf(...approvalChoices)),
      rule: optional(text),
      message: optional(text),
      resume: optional(flag),
    },
    async ({ session }, { approvalId, resume = false, ...answer }) => {
      if (await approve(session, approvalId, { answer, resume })) return;
      throw new HarnessError("invalid_input", `No question with the id ${JSON.stringify(approvalId)} is open.`);
    },
  ),
  get_questions: command({}, async ({ session }) => ({ questions: [...(await session.getQuestions())] })),
  resume: command({}, async ({ session }) => {
    const { outcome } = await session.startResuming();
    // A run that fails reports it in its events.
    outcome.catch(() => {});
  }),
} satisfies SomeCommands;

/** `tau commit`: commits what is staged, with a message that the model of the role `commit` writes. */
import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AssistantMessage, FailureKind, Message, Model } from "@tau/ai";
import type { ThinkingLevel } from "@tau/agent";
import { getFailure } from "@tau/ai/internal";
import { decideAfterFailure } from "@tau/config/internal";
import { type ExtensionContext, noUi } from "@tau/extensions";
import { createSessionRedactor, getMessageText } from "@tau/harness/host";
import { HarnessError } from "@tau/protocol";
import { getFailureAdvice } from "@tau/protocol/surface";
import { getAgentDir } from "../hosting/agent-dir.ts";
import { openHost } from "../hosting/open-host.ts";
import { openSettings } from "../hosting/open-settings.ts";
import { ask, isInteractive } from "../process/ask.ts";
import { UsageError } from "../process/errors.ts";
import { runEditor } from "../process/run-editor.ts";
import { firstRunText } from "../start/first-run.ts";
import { type ExitCode, exitCodes } from "../process/exit-codes.ts";
import type { SessionOptions } from "../start/session-options.ts";
import { parseServeOptions } from "./acp.ts";
import type { Io } from "./command.ts";
import { mustBeUnchanged, readDiffs, readMessages, readStaged, type StagedChanges } from "./commit-changes.ts";
import { makeCommit, makeCommits } from "./commit-make.ts";
import {
  formatChange,
  formatQuestion,
  messagePrompt,
  parseSplit,
  type ProposedCommit,
  splitPrompt,
  toMessage,
} from "./commit-message.ts";
import type { CommandArgs } from "./usage.ts";

export async function runCommit(args: CommandArgs, io: Io): Promise<ExitCode | void> {
  const splits = args.has("split");
  const staged = await readStaged(io);
  if (splits && staged.operation) {
    throw new UsageError("invalid_input", `A ${staged.operation} is one commit. Use tau commit without --split.`);
  }
  const proposed = await propose(staged, splits, args, io);
  if (!proposed) return exitCodes.failed;
  io.out(splits ? formatCommits(proposed) : `${proposed[0]!.message}\n`);
  const isTrusted = await checkTrust(staged, io);
  const canAsk = isInteractive(io);
  if (!args.has("yes") && !canAsk) {
    return io.err("Nothing was committed: without a terminal, this needs --yes.\n");
  }
  if (!isTrusted) {
    io.err(
      "This project is not trusted: the commit is made without hooks, filters and signing. To use them: tau trust\n",
    );
  }
  const decided = args.has("yes") ? proposed : await askPerson(proposed, splits, io);
  await mustBeUnchanged(staged, io);
  const options = { staged, isTrusted, io };
  if (decided.length === 1) await makeCommit(decided[0]!.message, options);
  else await makeCommits(decided, options);
}

async function checkTrust({ top }: StagedChanges, io: Io): Promise<boolean> {
  const settings = await openSettings({ cwd: top, agentDir: getAgentDir(io), watch: false });
  const { isProjectTrusted } = settings;
  await settings.close();
  return isProjectTrusted;
}

const formatCommits = (commits: readonly ProposedCommit[]): string =>
  commits
    .map(({ message, changes }, index) => {
      const files = changes.map((change) => `    ${formatChange(change)}\n`).join("");
      return `Commit ${index + 1} of ${commits.length}:\n${message.replaceAll(/^(?=.)/gm, "  ")}\n${files}`;
    })
    .join("\n");

const declined = "Nothing was committed. What was staged still is.";

/** Returns what to commit. Throws unless the person agrees. */
async function askPerson(
  proposed: readonly ProposedCommit[],
  splits: boolean,
  io: Io,
): Promise<readonly ProposedCommit[]> {
  const question = splits
    ? `Make ${proposed.length === 1 ? "this commit" : "these commits"}? [y/N] `
    : "Commit? [y/N, e edits] ";
  const answer = (await ask(io, question))?.trim();
  if (answer === undefined) throw new HarnessError("aborted", declined);
  if (/^y(es)?$/i.test(answer)) return proposed;
  if (splits || !/^e(dit)?$/i.test(answer)) throw new UsageError("declined", declined);
  const message = await editMessage(proposed[0]!.message, io);
  if (message === "") throw new UsageError("declined", `The message is empty. ${declined}`);
  return [{ ...proposed[0]!, message }];
}

async function editMessage(message: string, io: Io): Promise<string> {
  const editor = io.env["VISUAL"] || io.env["EDITOR"];
  if (!editor) throw new UsageError("invalid_input", `Set VISUAL or EDITOR to your editor. ${declined}`);
  const directory = await mkdtemp(join(tmpdir(), "tau-commit-"));
  try {
    const file = join(directory, "COMMIT_EDITMSG");
    await writeFile(file, `${message}\n`, { mode: 0o600 });
    const status = await runEditor(editor, file, io);
    if (status === 0) return (await readFile(file, "utf8")).trim();
    throw new HarnessError("unavailable", `The editor ${JSON.stringify(editor)} ended with ${status}. ${declined}`);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Undefined if there is no model, which was reported. */
async function propose(
  staged: StagedChanges,
  splits: boolean,
  args: CommandArgs,
  io: Io,
): Promise<readonly ProposedCommit[] | undefined> {
  const [diffs, messages] = [await readDiffs(staged, io), await readMessages(staged, io)];
  const model = await openModel(parseServeOptions(args), io);
  if (!model) return undefined;
  try {
    const tag = randomBytes(6).toString("hex");
    const question = formatQuestion({ changes: staged.changes, diffs, messages, tag, redact: model.redact });
    if (splits) return await proposeSplit(question, staged, model);
    const message = toMessage(getMessageText(await model.complete(messagePrompt, [toUserMessage(question)])));
    if (message === "") throw new HarnessError("unavailable", "The model answered without a message. Run it again.");
    return [{ message, changes: staged.changes }];
  } finally {
    await model.close();
  }
}

/** An answer that does not fit is asked for once more, with what is wrong. */
async function proposeSplit(
  question: string,
  { changes }: StagedChanges,
  { complete }: CommitModel,
): Promise<readonly ProposedCommit[]> {
  const asked: Message[] = [toUserMessage(question)];
  const first = await complete(splitPrompt, asked);
  const parsed = parseSplit(getMessageText(first), changes);
  if (parsed.kind === "commits") return parsed.commits;
  const again = toUserMessage(`${parsed.problem} Answer again with the whole JSON.`);
  const second = parseSplit(getMessageText(await complete(splitPrompt, [...asked, first, again])), changes);
  if (second.kind === "commits") return second.commits;
  throw new HarnessError(
    "unavailable",
    `The model proposed no commits that can be made: ${second.problem} Use tau commit without --split, or another --model.`,
  );
}

const toUserMessage = (text: string): Message => ({
  role: "user",
  content: [{ type: "text", text }],
  timestamp: Date.now(),
});

interface CommitModel {
  /** Throws if the model gives no answer. */
  complete(systemPrompt: string, messages: readonly Message[]): Promise<AssistantMessage>;
  redact(text: string): string;
  close(): Promise<void>;
}

/** A request has been retried with the same model by then. */
const usesNextModel = (kind: FailureKind): boolean =>
  decideAfterFailure({ kind, hasShown: false, hasNextKey: false, hasNextModel: true, tries: 1, canRetry: false }) ===
  "next_model";

/**
 * Requests of their own, with the keys of a session that has neither tools nor a log: in a prompt, text of the differences such as
 * `@name` would be read as the name of a file.
 */
async function openModel(flags: SessionOptions, io: Io): Promise<CommitModel | undefined> {
  let context: ExtensionContext | undefined;
  const options: SessionOptions = {
    ...flags,
    model: flags.model ?? "@commit",
    noSession: true,
    noTools: true,
    noMcp: true,
    noContextFiles: true,
    noSkills: true,
    noPromptTemplates: true,
  };
  const { host, sessionId } = await openHost(options, io, {
    asksTrust: false,
    factories: [(tau) => void tau.on("session_start", (_event, started) => void (context = started))],
  });
  const { session, view } = host.get(sessionId);
  const { model, modelProblem, thinkingLevel } = session;
  if (!model) {
    for (const { message } of view.live.notices) io.err(`tau: ${message}\n`);
    io.err(modelProblem === undefined ? firstRunText : `tau: ${modelProblem}\n`);
    await host.dispose();
    return undefined;
  }
  await session.attachSurface({ mode: "print", ui: { ...noUi, notify: (message) => io.err(`tau: ${message}\n`) } });
  const redactor = createSessionRedactor(session, io.env);
  /** The model in use, and those of its chain that have not failed. */
  const candidates: { model: Model; thinkingLevel?: ThinkingLevel }[] = [{ model }, ...session.fallbackModels];
  return {
    redact: (text) => String(redactor.redact(text)),
    close: () => host.dispose(),
    async complete(systemPrompt, messages) {
      const request = { systemPrompt, messages: [...messages] };
      for (;;) {
        const { model, thinkingLevel: reasoning = thinkingLevel } = candidates[0]!;
        const choices = { reasoning, cacheRetention: "none" as const, signal: io.signal };
        const answer = await context!.modelRegistry.complete(model, request, choices);
        if (io.signal.aborted) throw new HarnessError("aborted", `Interrupted. ${declined}`);
        if (answer.stopReason !== "error" && answer.stopReason !== "aborted") return answer;
        const { kind, message } = getFailure(answer);
        const next = candidates[1]?.model;
        if (!next || !usesNextModel(kind)) {
          const advice = getFailureAdvice(kind, "program");
          throw new HarnessError("unavailable", [message, advice].filter(Boolean).join("\n  "));
        }
        io.err(`tau: ${model.provider}/${model.id}: ${message} ${next.provider}/${next.id} is used instead.\n`);
        candidates.shift();
      }
    },
  };
}

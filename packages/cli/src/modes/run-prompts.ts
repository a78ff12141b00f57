/** Print and JSON mode in this process. */
import { getErrorMessage } from "@tau/ai/internal";
import type { AgentSession } from "@tau/harness";
import { type HostedSession, runPrompt } from "@tau/harness/host";
import type { SessionOptions } from "../start/session-options.ts";
import type { Io } from "../commands/command.ts";
import { type ExitCode, exitCodes } from "../process/exit-codes.ts";
import { firstRunText } from "../start/first-run.ts";
import { canAnswer } from "../hosting/open-directory.ts";
import { askAtTerminal, openHost } from "../hosting/open-host.ts";
import { prepareOutput } from "./answer-file.ts";
import { readInput } from "./read-input.ts";
import { mustHavePrompt, type PromptSession, sendPrompt, toAbsolute } from "./send-prompt.ts";
import { toShownSession } from "./shown-session.ts";

export async function runPrompts(options: SessionOptions, io: Io): Promise<ExitCode> {
  const output = await prepareOutput(options, io);
  const input = await readInput(io);
  // An option of an extension may change what the prompt is.
  if (!options.unknownFlags) mustHavePrompt(options, input);
  const isAttended = canAnswer(options, io);
  const opened = await openHost(options, io, { ask: { ...askAtTerminal, isAttended: () => isAttended } });
  const { host, sessionId } = opened;
  try {
    mustHavePrompt(opened.options, input);
    const { message, files } = opened.options;
    const hosted = host.get(sessionId);
    const { model, modelProblem, cwd } = hosted.session;
    if (!model) {
      for (const { message } of hosted.view.live.notices) io.err(`tau: ${message}\n`);
      io.err(modelProblem === undefined ? firstRunText : `tau: ${modelProblem}\n`);
      return exitCodes.failed;
    }
    const prompt = {
      prompt: message,
      files: cwd === io.cwd ? [...files] : toAbsolute(files, io.cwd),
      ...(input !== undefined && { input }),
      ...(output && { output }),
    };
    return await sendPrompt(toPromptSession(hosted, opened.options, io), prompt, { options, io, isAttended });
  } finally {
    await host.dispose();
  }
}

function toPromptSession(hosted: HostedSession, { mode, message }: SessionOptions, io: Io): PromptSession {
  const { session } = hosted;
  return {
    id: session.sessionId,
    shown: toShownSession(hosted),
    getHeader: async () => session.sessionManager.getHeader(),
    getStats: async () => {
      const { tokens, cost } = await session.stats();
      return { tokens, cost, ...(session.sessionFile !== undefined && { sessionFile: session.sessionFile }) };
    },
    createRedactor: async () => {
      const { createSessionFrameRedactor } = await import("@tau/harness/host");
      return createSessionFrameRedactor(session);
    },
    jsonEvents: session.settings.json.events,
    async followPiEvents(send) {
      const { followPiEvents } = await import("../rpc/pi-events.ts");
      return followPiEvents(hosted, { send, onFailed: (error) => io.err(`tau: ${getErrorMessage(error)}\n`) });
    },
    // The code of a feature is loaded by its command, and says something.
    start: async () =>
      void ((session.extensions || session.isExtensionCommand(message)) && (await attachExtensions(session, mode, io))),
    run: ({ prompt, ...content }) => runPrompt(hosted, prompt, { ...content, source: "interactive" }),
  };
}

/** Starts the extensions: nobody can be asked. What they say is not the answer, so it goes to standard error. */
async function attachExtensions(session: AgentSession, mode: SessionOptions["mode"], io: Io): Promise<void> {
  const { noUi } = await import("@tau/extensions");
  const ui = { ...noUi, notify: (message: string) => io.err(`tau: ${message}\n`) };
  await session.attachSurface({ mode: mode === "text" ? "print" : "json", ui });
}

import { type ExtensionAPI, type ExtensionContext, type ExtensionUi, noUi, type ProgramCommand } from "@tau/extensions";
import { createAgentSession, SessionManager } from "@tau/harness";
import { HarnessError } from "@tau/protocol";
import { ask, isInteractive } from "../process/ask.ts";
import { type ExitCode, exitCodes } from "../process/exit-codes.ts";
import { UsageError } from "../process/errors.ts";
import { parseSessionArgs } from "../start/args.ts";
import { firstRunText } from "../start/first-run.ts";
import type { SessionOptions } from "../start/session-options.ts";
import { type Access, openAccess } from "./access.ts";
import type { Io } from "./command.ts";
import { type CommandContext, openCommandContext } from "./command-context.ts";
import type { CommandArgs } from "./usage.ts";

/** Runs a command of the program that a feature brings. */
export async function runFeatureCommand({ run }: ProgramCommand, args: CommandArgs, io: Io): Promise<ExitCode | void> {
  const context = await openCommandContext(io);
  const { cwd, agentDir, settings } = context;
  let access: Access | undefined;
  const askPerson = async (question: string, options?: { hidden?: boolean; signal?: AbortSignal }) =>
    await ask(io, question, options);
  try {
    const outcome = await run({
      ...args,
      cwd,
      agentDir,
      settings,
      env: io.env,
      canStartPrograms: true,
      signal: io.signal,
      out: io.out,
      err: io.err,
      ask: isInteractive(io) ? askPerson : undefined,
      openAuth: async () => (access ??= await openAccess(io)).auth,
      withSession: (work, { model } = {}) =>
        model === undefined ? runInSession(context, io, work) : runWithModel(model, io, work),
    });
    return outcome === "failed" ? exitCodes.failed : undefined;
  } finally {
    await access?.close();
    await settings.close();
  }
}

type Work<T> = (tau: ExtensionAPI, context: ExtensionContext) => Promise<T>;

interface Started {
  readonly tau: ExtensionAPI;
  readonly context: ExtensionContext;
}

async function runInSession<T>({ cwd, agentDir, settings }: CommandContext, io: Io, work: Work<T>): Promise<T> {
  let started: Started | undefined;
  const session = await createAgentSession({
    cwd,
    use: ["user", "project"],
    agentDir,
    settingsManager: settings,
    sessionManager: await SessionManager.inMemory(cwd, { agentDir }),
    extensions: {
      factories: [(tau) => void tau.on("session_start", (_event, context) => void (started = { tau, context }))],
    },
  });
  try {
    await session.attachSurface({ mode: isInteractive(io) ? "tui" : "print", ui: createUi(io) });
    return await work(started!.tau, started!.context);
  } finally {
    await session.dispose();
  }
}

/** In a session as print mode has it, but for its log. */
async function runWithModel<T>(model: true | string, io: Io, work: Work<T>): Promise<T> {
  // Late: few commands of features ask a model.
  const { openHost } = await import("../hosting/open-host.ts");
  let started: Started | undefined;
  const options = parseFlags(["--no-session", ...(model === true ? [] : ["--model", model])]);
  const { host, sessionId } = await openHost(options, io, {
    asksTrust: false,
    factories: [(tau) => void tau.on("session_start", (_event, context) => void (started = { tau, context }))],
  });
  try {
    const { session } = host.get(sessionId);
    if (!session.model)
      throw new HarnessError("unknown_model", session.modelProblem ?? firstRunText.replace("tau: ", "").trim());
    await session.attachSurface({ mode: "print", ui: createUi(io) });
    return await work(started!.tau, started!.context);
  } finally {
    await host.dispose();
  }
}

function parseFlags(flags: readonly string[]): SessionOptions {
  const parsed = parseSessionArgs(flags);
  if (parsed.kind === "session") return parsed.options;
  throw new UsageError("arguments", parsed.kind === "invalid" ? `${parsed.message}.` : "");
}

const createUi = (io: Io): ExtensionUi => ({
  ...noUi,
  notify: (message) => io.err(`tau: ${message}\n`),
  async confirm(title, message) {
    const answer = await ask(io, `${title}\n${message}\n[y/N] `);
    return /^y(es)?$/i.test(answer?.trim() ?? "");
  },
  input: async (title) => await ask(io, `${title}: `),
});

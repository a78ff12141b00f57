import { type ExtensionAPI, type ExtensionContext, type ExtensionUi, noUi, type ProgramCommand } from "@tau/extensions";
import { createAgentSession, SessionManager } from "@tau/harness";
import { ask, isInteractive } from "../process/ask.ts";
import { type ExitCode, exitCodes } from "../process/exit-codes.ts";
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
      withSession: (work) => runInSession(context, io, work),
    });
    return outcome === "failed" ? exitCodes.failed : undefined;
  } finally {
    await access?.close();
    await settings.close();
  }
}

async function runInSession<T>(
  { cwd, agentDir, settings }: CommandContext,
  io: Io,
  work: (tau: ExtensionAPI, context: ExtensionContext) => Promise<T>,
): Promise<T> {
  let started: { tau: ExtensionAPI; context: ExtensionContext } | undefined;
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

const createUi = (io: Io): ExtensionUi => ({
  ...noUi,
  notify: (message) => io.err(`tau: ${message}\n`),
  async confirm(title, message) {
    const answer = await ask(io, `${title}\n${message}\n[y/N] `);
    return /^y(es)?$/i.test(answer?.trim() ?? "");
  },
  input: async (title) => await ask(io, `${title}: `),
});

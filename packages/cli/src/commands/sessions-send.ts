/** `tau sessions send`: a message to a session that another program has open. */
import { systemClock } from "@tau/ai";
import { sleep } from "@tau/ai/internal";
import { HarnessError } from "@tau/protocol";
import { connectToGateway, findGateway } from "@tau/protocol/node";
import { findLeaseHolder } from "@tau/tools/platform";
import { Spool, type SpooledMessage } from "../hosting/spool.ts";
import { type ExitCode, exitCodes } from "../process/exit-codes.ts";
import { UsageError } from "../process/errors.ts";
import { version } from "../start/version.ts";
import { findSessionId } from "./attach.ts";
import type { Io } from "./command.ts";
import {
  type CommandContext,
  findSessionFile,
  listSessions,
  openCommandContext,
  readSession,
} from "./command-context.ts";
import { findNamedSession, matchSessions } from "./sessions-choose.ts";
import type { CommandArgs } from "./usage.ts";

/** How long a program that has a session open may take to see the message, and then to write it down. */
const maxWaitMs = 10_000;
const maxWriteMs = 60_000;
const pauseMs = 50;

export async function send(args: CommandArgs, io: Io): Promise<ExitCode | void> {
  const [reference = "", ...words] = args.positionals;
  const message = { sender: args.value("from") ?? (io.env["USER"] || "somebody"), text: words.join(" ") };
  if (message.text.trim() === "") throw new UsageError("arguments", "the message is empty.");
  // The classifier denies the command by its words; a script may hide them.
  if (io.env["TAU_SESSION_ID"] !== undefined) {
    const why = "Commands of a session cannot send messages to sessions. Use another terminal.";
    throw new UsageError("invalid_input", why);
  }
  const context = await openCommandContext(io);
  const path = await findFile(reference, context, io);
  const { agentDir } = context;
  const gateway = await findGateway(agentDir);
  if (path === undefined) return await sendToGateway({ agentDir, reference, message, io });
  const sessionId = await readSession(path, context, async (session) => session.id);
  const holder = await findLeaseHolder(`${path}.lock`);
  if (!holder) {
    const inGateway = gateway ? `, or in the gateway: tau attach ${sessionId}` : "";
    io.err(
      `No program has the session ${sessionId} open. Open it: tau --session ${sessionId}${inGateway}. Nothing was sent.\n`,
    );
    return exitCodes.failed;
  }
  if (holder.pid === gateway?.pid) return await sendToGateway({ agentDir, reference: sessionId, message, io });
  return await sendToProcess({ sessionId, pid: holder.pid, message, spool: new Spool({ agentDir }), io });
}

/** By its path or id, else by its name. Undefined: it may be one that only a gateway has, such as one of a cluster. */
async function findFile(reference: string, context: CommandContext, io: Io): Promise<string | undefined> {
  try {
    return await findSessionFile(context, reference, io);
  } catch (error) {
    if (!(error instanceof HarnessError) || error.code !== "session_not_found") throw error;
  }
  const isKnown = matchSessions(reference, await listSessions(context, io, { all: true })).length > 0;
  if (!isKnown && (await findGateway(context.agentDir))) return undefined;
  return await findNamedSession(reference, io, undefined);
}

interface ToGateway {
  agentDir: string;
  reference: string;
  message: SpooledMessage;
  io: Io;
}

async function sendToGateway({ agentDir, reference, message, io }: ToGateway): Promise<void> {
  const gateway = await connectToGateway({ agentDir, client: { name: "tau sessions send", version } });
  try {
    const sessionId = await findSessionId(gateway, reference);
    const { sender, text } = message;
    await gateway.call("session.follow_up", { sessionId, message: text, sender });
    io.out(`The gateway has the message for ${sessionId}.\n`);
  } finally {
    gateway.close();
  }
}

interface ToProcess {
  sessionId: string;
  pid: number;
  message: SpooledMessage;
  spool: Spool;
  io: Io;
}

async function sendToProcess({ sessionId, pid, message, spool, io }: ToProcess): Promise<ExitCode | void> {
  const name = await spool.add(sessionId, message);
  let state;
  do {
    state = await waitWhile("waiting", { spool, name, maxMs: maxWaitMs, io });
    // A session that cannot use it gives it back.
    if (state === "taken") state = await waitWhile("taken", { spool, name, maxMs: maxWriteMs, io });
    // A message that cannot be cancelled was taken at the last moment.
  } while (state === "waiting" && !(await spool.cancel(name)));
  if (state === "waiting") {
    if (io.signal.aborted) return exitCodes.interrupted;
    const why = "It may be one that takes none, such as tau -p, or wait for an answer to a question.";
    io.err(`Process ${pid} has the session ${sessionId} open and did not take the message. ${why} Nothing was sent.\n`);
    return exitCodes.failed;
  }
  if (state === "gone") return io.out(`Process ${pid} has the message for ${sessionId}.\n`);
  io.err(`Process ${pid} has taken the message for ${sessionId}, and has not used it yet. It is kept until then.\n`);
}

interface Waiting {
  spool: Spool;
  name: string;
  maxMs: number;
  io: Io;
}

async function waitWhile(state: "waiting" | "taken", { spool, name, maxMs, io }: Waiting) {
  const deadlineMs = systemClock.monotonic() + maxMs;
  for (;;) {
    const current = await spool.getState(name);
    if (current !== state || systemClock.monotonic() >= deadlineMs || io.signal.aborted) return current;
    await sleep(systemClock, pauseMs);
  }
}

/** RPC mode: commands are lines on standard input; responses and events are lines on standard output. */
import { Readable } from "node:stream";
import { getErrorMessage, untilAborted } from "@tau/ai/internal";
import { type Command, isCommandName } from "@tau/protocol";
import { type CommandOptions, type Host, isLongCommand } from "@tau/harness/host";
import { readLines } from "@tau/tools/platform";
import type { SessionOptions } from "../start/session-options.ts";
import type { Io } from "../commands/command.ts";
import { type ExitCode, exitCodes } from "../process/exit-codes.ts";
import { openHost } from "../hosting/open-host.ts";
import { CurrentSession } from "./current-session.ts";
import {
  createMalformed,
  type Fault,
  faultRecord,
  type Incoming,
  maxLineBytes,
  parseLine,
  type Sender,
  successRecord,
} from "./framing.ts";
import { Wire } from "./wire.ts";
import { UsageError } from "../process/errors.ts";

/** How long a dialog waits in pi's framing. */
const piTimeoutMs = 30_000;

interface Client {
  host: Host;
  session: CurrentSession;
  wire: Wire;
}

/** Serves until standard input ends. Then the run is ended, the log is written, and the exit code is 0. */
export async function runRpc(options: SessionOptions, io: Io): Promise<ExitCode> {
  // A word may be the value of an option of an extension.
  if (!options.unknownFlags) mustHaveNoPrompt(options);
  const wire = new Wire(io);
  const isAttended = () => wire.isAttended;
  const timeoutMs = () => (wire.framing === "pi" ? piTimeoutMs : undefined);
  const { host, sessionId, options: resolved } = await openHost(options, io, { ask: { isAttended, timeoutMs } });
  const stopping = new AbortController();
  const session = new CurrentSession({ host, sessionId, wire, stop: () => stopping.abort() });
  const client: Client = { host, session, wire };
  const signal = AbortSignal.any([io.signal, stopping.signal]);
  const running = new Set<Promise<void>>();
  const waitForReader = createWaitForReader(io);
  try {
    mustHaveNoPrompt(resolved);
    for await (const line of readLines(io.input() ?? Readable.from([]), { maxBytes: maxLineBytes, signal })) {
      if (signal.aborted) break;
      const incoming = line.kind === "text" ? parseLine(line.text, wire.framing) : createTooLong(wire);
      if (wire.framing === undefined && incoming.kind === "command") {
        wire.framing = incoming.sender.framing;
        client.session.begin();
      }
      const work = handle(client, incoming);
      running.add(work);
      void work.then(() => running.delete(work));
      if (!isLong(incoming)) await session.questions.untilDoneOrAsked(work);
      // Commands of a client that does not read the responses have to wait.
      await waitForReader();
    }
  } finally {
    await client.session.end();
    await Promise.all(running);
    await waitForReader();
  }
  // A client that closes the output ends the program like one that closes the input.
  return io.signal.aborted && io.signal.reason !== "SIGPIPE" ? exitCodes.interrupted : exitCodes.done;
}

function mustHaveNoPrompt({ message, files }: SessionOptions): void {
  if (message === "" && files.length === 0) return;
  const reason = "RPC mode takes no prompt on the command line: send it as a command on standard input.";
  throw new UsageError("invalid_input", reason);
}

const createTooLong = ({ framing }: Wire): Incoming =>
  createMalformed(framing, `A line may have ${maxLineBytes / 1024 ** 2} MB. This one is longer and was not read.`);

/** Waits until the output can take more, or the signal is aborted. */
function createWaitForReader({ drained, signal }: Io): () => Promise<unknown> | undefined {
  return () => {
    const writable = drained();
    return writable && untilAborted(writable, signal);
  };
}

/** Commands after a long one do not wait for it. */
const isLong = (incoming: Incoming): boolean =>
  incoming.kind === "command" && isCommandName(incoming.sender.command) && isLongCommand(incoming.sender.command);

/** Never rejects: errors are sent as responses. */
async function handle(client: Client, incoming: Incoming): Promise<void> {
  switch (incoming.kind) {
    case "blank":
    case "stray_reply":
      return;
    case "reply":
      client.session.approve(incoming.approvalId, incoming.answer);
      return;
    case "ui_reply": {
      const { id, answer } = incoming;
      if (client.session.ui?.answer(id, answer)) return;
      const decision = "confirmed" in answer && answer.confirmed ? "allow" : "deny";
      client.session.approve(id, { decision });
      return;
    }
    case "malformed":
      return client.wire.write(faultRecord(incoming.sender, incoming.fault));
    case "command":
      return await execute(client, incoming.sender, incoming.fields);
  }
}

async function execute(client: Client, sender: Sender, fields: Readonly<Record<string, unknown>>): Promise<void> {
  const { host, session, wire } = client;
  try {
    if (session.attaching) await session.attaching;
    // Extensions bring templates and skills when they start.
    if (sender.command === "get_commands") await session.starting;
    // The host checks the name and the parameters.
    const command = { ...fields, type: sender.command } as Command;
    const data: unknown = await host.execute(session.id, command, createOptions(client, sender));
    if (sender.command === "abort") session.settle();
    // After `branch` the client stays in its session; every other new session becomes the current one.
    if (hasSessionId(data) && !data.cancelled) {
      await (sender.command === "branch" ? host.close(data.sessionId) : session.switchTo(data.sessionId));
    }
    // It may bring the first extensions.
    if (sender.command === "reload") session.attach();
    wire.write(successRecord(sender, data));
  } catch (error) {
    wire.write(faultRecord(sender, toFault(error)));
  }
}

const hasSessionId = (data: unknown): data is { sessionId: string; cancelled: boolean } =>
  typeof data === "object" && data !== null && "sessionId" in data && "cancelled" in data;

/** The output of `bash` is sent while the command runs. */
function createOptions({ wire, session }: Client, { id }: Sender): CommandOptions {
  return {
    onInitialize(abilities) {
      wire.setAbilities(abilities);
      if (!wire.answersDialogs) session.ui?.cancelAll();
    },
    onOutput(delta) {
      const update = { ...(id !== undefined && { id }), delta };
      wire.sendPi({ type: "bash_execution_update", ...update });
      wire.notify("bash_execution_update", update);
    },
  };
}

function toFault(error: unknown): Fault {
  const message = getErrorMessage(error);
  const code = (error as { code?: unknown } | undefined)?.code;
  if (code === "unknown_command") return { kind: "unknown_command", message };
  if (code === "invalid_parameters") return { kind: "invalid_fields", message };
  return { kind: "failed", message, ...(typeof code === "string" && { code }) };
}

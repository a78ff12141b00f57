/** RPC mode: commands as lines on standard input, answers and events as lines on standard output, and nothing else there. */
import { Readable } from "node:stream";
import { getErrorMessage } from "@tau/ai";
import { HarnessError } from "@tau/harness";
import { type CommandOptions, type Host, isLongCommand } from "@tau/harness/host";
import { type Command, isCommandName } from "@tau/protocol";
import type { SessionOptions } from "../args.ts";
import type { Io } from "../command.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { openHost } from "../open-host.ts";
import { type Fault, type Incoming, notACommand, readLine, type Sender } from "./framing.ts";
import { type Line, maxLineBytes, readLines } from "./lines.ts";
import { ShownSession } from "./shown-session.ts";
import { Wire } from "./wire.ts";

interface Client {
  host: Host;
  shown: ShownSession;
  wire: Wire;
}

/** Serves until standard input ends; then the run ends, the log is written, and the program ends with 0. */
export async function runRpc(options: SessionOptions, io: Io): Promise<ExitCode> {
  if (options.messages.length > 0 || options.files.length > 0) {
    const message = "RPC mode takes no prompt on the command line: send it as a command on standard input.";
    throw new HarnessError("invalid_input", message);
  }
  const { host, sessionId } = await openHost(options, io, { ask: "surface" });
  const wire = new Wire(io);
  const client: Client = { host, shown: new ShownSession(host, sessionId, wire), wire };
  const running = new Set<Promise<void>>();
  const roomToWrite = waitForRoom(io);
  try {
    for await (const line of readLines(io.input() ?? Readable.from([]), io.signal)) {
      if (io.signal.aborted) break;
      const incoming = toIncoming(line, wire);
      if (learnFraming(wire, incoming)) client.shown.tellNotices();
      const { isLong, work } = take(client, incoming);
      if (!isLong) await work;
      else {
        running.add(work);
        void work.then(() => running.delete(work));
      }
      // A client that does not read gets no more to read.
      await roomToWrite();
    }
  } finally {
    await client.shown.end();
    await Promise.all(running);
    await roomToWrite();
  }
  // A client that left early is treated like one that closed the input.
  return io.signal.aborted && io.signal.reason !== "SIGPIPE" ? exitCodes.interrupted : exitCodes.done;
}

/** Waits for the reader, but not for one that is gone. */
function waitForRoom({ drained, signal }: Io): () => Promise<unknown> | undefined {
  const gone = new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener("abort", resolve, { once: true });
  });
  return () => {
    const room = drained();
    return room && Promise.race([room, gone]);
  };
}

function toIncoming(line: Line, { framing = "pi" }: Wire): Incoming {
  if (line.kind === "text") return readLine(line.text, framing);
  return notACommand(framing, `A line may have ${maxLineBytes / 1024 / 1024} MB. This one is longer and was not read.`);
}

/** Events follow the framing of the first command. True when this is the first. */
function learnFraming(wire: Wire, incoming: Incoming): boolean {
  if (wire.framing !== undefined || incoming.kind !== "command") return false;
  wire.speak(incoming.sender.framing);
  return true;
}

/** The work never fails: what goes wrong is the answer. */
function take(client: Client, incoming: Incoming): { isLong: boolean; work: Promise<void> } {
  switch (incoming.kind) {
    case "nothing":
    case "stray":
      break;
    case "reply":
      client.host.get(client.shown.id).session.approve(incoming.approvalId, incoming.answer);
      break;
    case "mistake":
      client.wire.fail(incoming.sender, incoming.fault);
      break;
    case "command": {
      const { sender, fields } = incoming;
      const isLong = isCommandName(sender.command) && isLongCommand(sender.command);
      return { isLong, work: answer(client, sender, fields) };
    }
  }
  return { isLong: false, work: Promise.resolve() };
}

async function answer(client: Client, sender: Sender, fields: Readonly<Record<string, unknown>>): Promise<void> {
  const { host, shown, wire } = client;
  try {
    // The host checks the name and the parameters.
    const command = { ...fields, type: sender.command } as Command;
    const data: unknown = await host.execute(shown.id, command, getOptions(wire, sender));
    if (sender.command === "abort") shown.settle();
    // `branch` makes a session that the client may open later; the others are shown from now on.
    if (hasSessionId(data))
      await (sender.command === "branch" ? host.close(data.sessionId) : shown.switchTo(data.sessionId));
    wire.succeed(sender, data);
  } catch (error) {
    wire.fail(sender, toFault(error));
  }
}

const hasSessionId = (data: unknown): data is { sessionId: string; cancelled: boolean } =>
  typeof data === "object" && data !== null && "sessionId" in data && "cancelled" in data;

/** The output of `bash` is told as it comes. */
function getOptions(wire: Wire, { id, command }: Sender): CommandOptions {
  if (command !== "bash") return {};
  return {
    onOutput(delta) {
      const update = { ...(id !== undefined && { id }), delta };
      wire.pi({ type: "bash_execution_update", ...update });
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

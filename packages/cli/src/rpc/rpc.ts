/** RPC mode: commands as lines on standard input, answers and events as lines on standard output, and nothing else there. */
import { Readable } from "node:stream";
import { HarnessError } from "@tau/harness";
import { didYouMean, getErrorMessage } from "@tau/ai";
import type { SessionOptions } from "../args.ts";
import type { Io } from "../command.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { getAgentDir } from "../find-session.ts";
import { openSession } from "../open-session.ts";
import { rpcCommands } from "./commands.ts";
import { readFields } from "./fields.ts";
import { type Fault, type Incoming, notACommand, readLine, type Sender } from "./framing.ts";
import { RpcHost } from "./host.ts";
import { type Line, maxLineBytes, readLines } from "./lines.ts";
import { Wire } from "./wire.ts";

/** Serves until standard input ends; then the run ends, the log is written, and all is well. */
export async function runRpc(options: SessionOptions, io: Io): Promise<ExitCode> {
  if (options.messages.length > 0 || options.files.length > 0) {
    const message = "RPC mode takes no prompt on the command line: send it as a command on standard input.";
    throw new HarnessError("invalid_input", message);
  }
  const session = await openSession(options, io, { ask: "surface" });
  const wire = new Wire(io);
  const host = new RpcHost(session, { wire, options, cwd: io.cwd, agentDir: getAgentDir(io) });
  const running = new Set<Promise<void>>();
  const roomToWrite = waitForRoom(io);
  try {
    for await (const line of readLines(io.input() ?? Readable.from([]), io.signal)) {
      if (io.signal.aborted) break;
      const incoming = toIncoming(line, wire);
      if (hear(host, incoming)) host.tellNotices();
      const { isLong, work } = take(host, incoming);
      if (!isLong) await work;
      else {
        running.add(work);
        void work.then(() => running.delete(work));
      }
      // Whoever does not read gets no more to read.
      await roomToWrite();
    }
  } finally {
    await host.end();
    await Promise.all(running);
    await roomToWrite();
  }
  // Who left early is as gone as who closed the input.
  return io.signal.aborted && io.signal.reason !== "SIGPIPE" ? exitCodes.interrupted : exitCodes.done;
}

/** Waits for whoever reads, but not for one that is gone. */
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
  return notACommand(
    framing,
    `A line may have ${maxLineBytes / 1024 / 1024} MB, and this one had more. It was not read.`,
  );
}

/** True when this is the first that is heard of a client. */
function hear({ wire }: RpcHost, incoming: Incoming): boolean {
  if (wire.framing !== undefined || incoming.kind !== "command") return false;
  wire.speak(incoming.sender.framing);
  return true;
}

/** The work never fails: what goes wrong is the answer. */
function take(host: RpcHost, incoming: Incoming): { isLong: boolean; work: Promise<void> } {
  switch (incoming.kind) {
    case "nothing":
    case "stray":
      break;
    case "reply":
      host.session.approve(incoming.approvalId, incoming.answer);
      break;
    case "mistake":
      host.wire.fail(incoming.sender, incoming.fault);
      break;
    case "command": {
      const { sender, fields } = incoming;
      const isLong = Object.hasOwn(rpcCommands, sender.command) && rpcCommands[sender.command]!.isLong;
      return { isLong, work: answer(host, sender, fields) };
    }
  }
  return { isLong: false, work: Promise.resolve() };
}

async function answer(host: RpcHost, sender: Sender, fields: Readonly<Record<string, unknown>>): Promise<void> {
  const { command: name } = sender;
  const command = Object.hasOwn(rpcCommands, name) ? rpcCommands[name] : undefined;
  if (!command) {
    return host.wire.fail(sender, { kind: "unknown_command", message: noCommand(name) });
  }
  const read = readFields(command.fields, fields);
  if (read.kind === "wrong") return host.wire.fail(sender, { kind: "invalid_fields", message: read.message });
  try {
    host.wire.succeed(sender, await command.run(host, read.given as never, sender));
  } catch (error) {
    host.wire.fail(sender, toFault(error));
  }
}

/** A name that goes on for ever is like none of ours. */
function noCommand(name: string): string {
  if (name.length > 80) return "There is no command with such a long name.";
  return `There is no command ${JSON.stringify(name)}.${didYouMean(name, Object.keys(rpcCommands))}`;
}

function toFault(error: unknown): Fault {
  const code = (error as { code?: unknown } | undefined)?.code;
  return { kind: "failed", message: getErrorMessage(error), ...(typeof code === "string" && { code }) };
}

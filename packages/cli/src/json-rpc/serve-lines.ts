/** Serves a client that sends JSON-RPC on standard input, one message per line. */
import { Readable } from "node:stream";
import { untilAborted } from "@tau/ai/internal";
import type { Io } from "../commands/command.ts";
import { type ExitCode, exitCodes } from "../process/exit-codes.ts";
import { readLines } from "@tau/tools/platform";
import { maxLineBytes } from "../rpc/framing.ts";
import { type Incoming, JsonRpcError, parseMessage } from "@tau/protocol/json-rpc";

interface LineServer {
  take(incoming: Incoming): void;
  /** Ends everything, and writes nothing more. */
  close(): Promise<void>;
}

/** Resolves when standard input has ended and the server is closed. */
export async function serveLines(server: LineServer, io: Io): Promise<ExitCode> {
  try {
    for await (const line of readLines(io.input() ?? Readable.from([]), {
      maxBytes: maxLineBytes,
      signal: io.signal,
    })) {
      if (io.signal.aborted) break;
      server.take(line.kind === "text" ? parseMessage(line.text) : tooLong);
      // A client that does not read the responses has to wait with its requests.
      const writable = io.drained();
      if (writable) await untilAborted(writable, io.signal);
    }
  } finally {
    await server.close();
  }
  // A client that closes the output ends the program like one that closes the input.
  return io.signal.aborted && io.signal.reason !== "SIGPIPE" ? exitCodes.interrupted : exitCodes.done;
}

const tooLong: Incoming = {
  kind: "malformed",
  id: null,
  error: new JsonRpcError(
    "parse_error",
    `A line may have ${maxLineBytes / 1024 ** 2} MB. This one is longer and was not read.`,
  ),
};

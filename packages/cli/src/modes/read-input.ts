import { addAbortSignal } from "node:stream";
import type { Io } from "../commands/command.ts";
import { UsageError } from "../process/errors.ts";

/** More than the context window of any model. */
const maxBytes = 10 * 1024 * 1024;

/** The text of standard input. Undefined if it is a terminal, or blank. */
export async function readInput(io: Io): Promise<string | undefined> {
  const input = io.terminal.input ? undefined : io.input();
  if (!input) return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  // An interrupt does not wait for the end of the input.
  for await (const chunk of addAbortSignal(io.signal, input)) {
    chunks.push(Buffer.from(chunk));
    size += chunks.at(-1)!.length;
    if (size > maxBytes) {
      const message = "Standard input has more than 10 MB. Give the model a file to read instead.";
      throw new UsageError("invalid_input", message);
    }
  }
  const bytes = Buffer.concat(chunks);
  if (bytes.includes(0)) {
    const message = "Standard input is not text. Convert it to text, or name it as a file: @FILE.";
    throw new UsageError("invalid_input", message);
  }
  const text = bytes.toString("utf8");
  return text.trim() === "" ? undefined : text;
}

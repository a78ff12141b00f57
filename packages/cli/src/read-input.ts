/** Standard input, where it is not a terminal. */
import { HarnessError } from "@tau/harness";
import type { Io } from "./command.ts";

/** More than any model reads. */
const maxBytes = 10 * 1024 * 1024;

/** Undefined when there is none, or nothing in it. */
export async function readInput(io: Io): Promise<string | undefined> {
  const input = io.terminal.input ? undefined : io.input();
  if (!input) return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  // Who interrupts does not wait for the end of the input.
  const stop = () => input.destroy();
  io.signal.addEventListener("abort", stop, { once: true });
  try {
    for await (const chunk of input) {
      chunks.push(Buffer.from(chunk));
      size += chunks.at(-1)!.length;
      if (size > maxBytes) {
        throw new HarnessError(
          "invalid_input",
          "Standard input has more than 10 MB. Give the model a file to read instead.",
        );
      }
    }
  } finally {
    io.signal.removeEventListener("abort", stop);
  }
  const bytes = Buffer.concat(chunks);
  if (bytes.includes(0)) {
    throw new HarnessError(
      "invalid_input",
      "Standard input is no text. Turn it into some, or name it as a file: @FILE.",
    );
  }
  const text = bytes.toString("utf8");
  return text.trim() === "" ? undefined : text;
}

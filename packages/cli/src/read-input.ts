/** Standard input, where it is not a terminal. */
import { HarnessError } from "@tau/harness";
import type { Io } from "./command.ts";

/** More than any model reads. */
const mostBytes = 10 * 1024 * 1024;

/** Undefined when there is none, or nothing in it. */
export async function readInput(io: Io): Promise<string | undefined> {
  if (io.terminal.input) return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of io.input()) {
    chunks.push(Buffer.from(chunk));
    size += chunks.at(-1)!.length;
    if (size > mostBytes) {
      throw new HarnessError(
        "invalid_input",
        "Standard input has more than 10 MB. Give the model a file to read instead.",
      );
    }
  }
  const text = Buffer.concat(chunks).toString("utf8");
  return text.trim() === "" ? undefined : text;
}

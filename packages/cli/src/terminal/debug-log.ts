/** The file that `/debug` writes. */
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

interface DebugLogOptions {
  agentDir: string;
  /** Removes secrets from a line. */
  redact: (text: string) => Promise<string>;
}

/** Replaces the file of the last time. Resolves to its path. */
export async function writeDebugLog(text: string, { agentDir, redact }: DebugLogOptions): Promise<string> {
  const path = join(agentDir, "tau-debug.log");
  const lines: string[] = [];
  // A text is redacted up to a limit; a line is below it.
  for (const line of text.split("\n")) lines.push(await redact(line));
  await mkdir(agentDir, { recursive: true });
  await writeFile(`${path}.new`, lines.join("\n"), { mode: 0o600 });
  await rename(`${path}.new`, path);
  return path;
}

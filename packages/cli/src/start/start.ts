/**
 * The first stage of the program. It is small because `--version` and, where there are no extensions, `--help` load
 * nothing else; the rest is one file, which runs through a code cache. The build makes CommonJS of both and writes the
 * help text into this one.
 */
import { realpathSync, writeSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { mayHaveExtensions } from "./may-have-extensions.ts";
import { settleDirectories } from "./settle-directories.ts";

/** The build fills these in, from the tables and the manifest. */
declare const tauHelpText: string;
declare const tauVersion: string;
declare const tauHashes: Readonly<Record<string, string>>;
declare const tauCommands: readonly string[];

settleDirectories(process.env);
const [first, ...rest] = process.argv.slice(2);
const isHelp = (first === "--help" || first === "-h") && rest.length === 0;
if (first === "--version" || first === "-v") print(`${tauVersion}\n`);
else if (isHelp && !mayHaveExtensions(listPlaces(process.env))) print(tauHelpText);
else {
  // Next to the real file, even if the program was started through a link.
  const program = join(dirname(realpathSync(__filename)), "program.cjs");
  import("./code-cache.ts")
    .then(({ runProgram }) => runProgram(program, { version: tauVersion, hashes: tauHashes, commands: tauCommands }))
    .catch((error: Error) => {
      process.exitCode = 1;
      process.stderr.write(`tau: ${program} cannot be run: ${error.message}. Install tau again.\n`);
    });
}

/** All that could be the user's directory, and those of the project: the program decides which of them apply. */
function listPlaces(env: NodeJS.ProcessEnv): string[] {
  const home = env["HOME"] || homedir();
  const named = [env["TAU_DIR"], env["PI_CODING_AGENT_DIR"]].filter((path) => path !== undefined);
  return [...named.map((path) => path.replace(/^~(?=\/|$)/, () => home)), join(home, ".tau"), ".tau", ".pi"];
}

/** Writes to the descriptor: loading `process.stdout` takes longer than everything else in this file. */
function print(text: string): void {
  let written = 0;
  const bytes = Buffer.from(text);
  try {
    while (written < bytes.length) written += writeSync(1, bytes, written);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // EPIPE: the reader has closed the pipe. EAGAIN: the pipe is full, and the stream can wait for it.
    if (code === "EAGAIN") process.stdout.write(bytes.subarray(written));
    else if (code !== "EPIPE") {
      process.exitCode = 1;
      process.stderr.write(`tau: the output cannot be written: ${message}\n`);
    }
  }
}

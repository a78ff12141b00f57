/**
 * The first stage of the program: small, because it is all that `--version` and `--help` load. Everything else is one
 * file, which is run through a code cache. The build makes CommonJS of both and writes the help text into this one.
 */
import { realpathSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";

/** Filled in by the build, from the tables and the manifest. */
declare const tauHelpText: string;
declare const tauVersion: string;
declare const tauHashes: Readonly<Record<string, string>>;
declare const tauCommands: readonly string[];

const [first] = process.argv.slice(2);
if (first === "--version" || first === "-v") say(`${tauVersion}\n`);
else if (first === "--help" || first === "-h") say(tauHelpText);
else {
  // Beside this file itself, also where it was started through a link.
  const program = join(dirname(realpathSync(__filename)), "program.cjs");
  import("./code-cache.ts")
    .then(({ runProgram }) => runProgram(program, { version: tauVersion, hashes: tauHashes, commands: tauCommands }))
    .catch((error: Error) => {
      process.exitCode = 1;
      process.stderr.write(`tau: ${program} cannot be run: ${error.message}. Install tau again.\n`);
    });
}

/** Standard output as a stream costs more than the rest of the way here; a short text needs only the descriptor. */
function say(text: string): void {
  let written = 0;
  const bytes = Buffer.from(text);
  try {
    while (written < bytes.length) written += writeSync(1, bytes, written);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // Whoever reads has left, and misses nothing. A pipe that is full for now is waited for by the stream.
    if (code === "EAGAIN") process.stdout.write(bytes.subarray(written));
    else if (code !== "EPIPE") {
      process.exitCode = 1;
      process.stderr.write(`tau: the output cannot be written: ${message}\n`);
    }
  }
}

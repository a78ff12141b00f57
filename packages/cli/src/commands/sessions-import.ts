import { resolve } from "node:path";
import { importSessionFile } from "@tau/harness/export";
import type { Io } from "./command.ts";
import { jsonLine } from "../modes/json-line.ts";
import { formatContinue, openCommandContext } from "./command-context.ts";
import { formatProblems } from "./format-problems.ts";
import type { CommandArgs } from "./usage.ts";

/** Copies a file to a new session of this directory, or of the one that it names. */
export async function importFile(args: CommandArgs, io: Io): Promise<void> {
  const sessionDir = args.value("session-dir");
  const context = await openCommandContext(io, sessionDir);
  const { id, path, entryCount, problems } = await importSessionFile(
    resolve(context.cwd, args.positionals[0]!),
    context,
    undefined,
    { keepsDirectory: args.has("keep-directory") },
  );
  if (args.has("json")) return io.out(jsonLine({ id, path, entries: entryCount, problems }));
  io.out(`${id}\n`);
  // A directory that is only named for this command is not where `--continue` looks.
  const isHere = sessionDir === undefined && !args.has("keep-directory");
  const use = isHere ? await formatContinue(context, { id, path }, io) : `tau --session ${path}`;
  io.err(`${formatProblems(problems)}${entryCount} entries were imported to ${path}. To use them: ${use}\n`);
}

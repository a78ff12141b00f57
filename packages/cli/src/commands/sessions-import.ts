import { resolve } from "node:path";
import { importSessionFile } from "@tau/harness/export";
import type { Io } from "../command.ts";
import { jsonLine } from "../json-line.ts";
import { openCommandContext } from "./command-context.ts";
import { formatProblems } from "./format-problems.ts";
import type { CommandArgs } from "./usage.ts";

/** Copies a file to a new session of this directory. */
export async function importFile(args: CommandArgs, io: Io): Promise<void> {
  const context = await openCommandContext(io, args.value("session-dir"));
  const { id, path, entryCount, problems } = await importSessionFile(
    resolve(context.cwd, args.positionals[0]!),
    context,
  );
  if (args.has("json")) return io.out(jsonLine({ id, path, entries: entryCount, problems }));
  io.out(`${id}\n`);
  io.err(`${formatProblems(problems)}${entryCount} entries were imported to ${path}. To use them: tau --continue\n`);
}

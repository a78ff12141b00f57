/** `tau fan`: runs tasks of a file in children of one session, side by side. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { text as readText } from "node:stream/consumers";
import { getErrorMessage } from "@tau/ai/internal";
import { type FanoutOptions, type FanoutTask, TaskFanout } from "@tau/features/agents";
import { openHost } from "../hosting/open-host.ts";
import { jsonLine } from "../modes/json-line.ts";
import { UsageError } from "../process/errors.ts";
import { type ExitCode, exitCodes } from "../process/exit-codes.ts";
import { parseServeOptions } from "./acp.ts";
import type { Io } from "./command.ts";
import { FanProgress } from "./fan-progress.ts";
import { parseFanTasks } from "./fan-tasks.ts";
import type { CommandArgs } from "./usage.ts";

/**
 * Prints the result of each task when it has ended; on a terminal, when all have: below the table. The exit code is 1 if one has
 * failed.
 */
export async function runFan(args: CommandArgs, io: Io): Promise<ExitCode> {
  const [file = "-"] = args.positionals;
  if (args.positionals.length === 0 && io.terminal.input) {
    throw new UsageError("arguments", "Name a file of tasks, or give them on standard input: tau fan < FILE");
  }
  const { stopOnError, merge, parallelism } = parseFanOptions(args);
  const tasks = await readTasks(file, io);
  io.claimOutput?.();
  const options = { ...parseServeOptions(args), name: `fan ${file}` };
  const { host, sessionId } = await openHost(options, io, { asksTrust: false });
  const progress = new FanProgress(tasks, io);
  const lines: string[] = [];
  const print = (line: string) => void (io.terminal.out ? lines.push(line) : io.out(line));
  let failed = 0;
  try {
    const results = await new TaskFanout(host.get(sessionId).session).fanout(tasks, {
      parallelism,
      stopOnError,
      merge,
      signal: io.signal,
      onTask(event) {
        progress.show(event);
        if (event.kind === "started") return;
        const { result } = event;
        if (!result.success) failed++;
        if (merge === "all" || (merge === "successful" && result.success)) print(jsonLine(result));
      },
    });
    if (merge === "first") {
      for (const result of results) print(jsonLine(result));
      // The others were ended because one has succeeded.
      failed = results.some(({ success }) => success) ? 0 : 1;
    }
  } catch (error) {
    if (!stopOnError) throw error;
    failed++;
    io.err(`tau: ${getErrorMessage(error)}\n`);
  } finally {
    io.out(lines.join(""));
    await host.dispose();
  }
  if (io.signal.aborted) return exitCodes.interrupted;
  return failed === 0 ? exitCodes.done : exitCodes.failed;
}

function parseFanOptions(args: CommandArgs): Required<Pick<FanoutOptions, "parallelism" | "stopOnError" | "merge">> {
  const parallelism = Number(args.value("parallelism") ?? 4);
  if (!Number.isSafeInteger(parallelism) || parallelism < 1) {
    throw new UsageError("arguments", "--parallelism needs a whole number above 0.");
  }
  const merge = (args.value("merge") ?? "all") as NonNullable<FanoutOptions["merge"]>;
  return { parallelism, stopOnError: args.has("stop-on-error"), merge };
}

async function readTasks(file: string, io: Io): Promise<FanoutTask[]> {
  const content = file === "-" ? await readInput(io) : await readTasksFile(resolve(io.cwd, file));
  const parsed = parseFanTasks(content);
  if (parsed.kind === "tasks") return parsed.tasks;
  throw new UsageError("invalid_input", `${file === "-" ? "Standard input" : file}: ${parsed.message}`);
}

async function readInput(io: Io): Promise<string> {
  const input = io.input();
  return input ? await readText(input) : "";
}

async function readTasksFile(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new UsageError("invalid_input", `The file of tasks cannot be read: ${getErrorMessage(error)}`);
  }
}

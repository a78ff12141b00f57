/** pi's tool `bash`, over operations that may be those of another machine. */
import { getErrorMessage } from "@tau/ai/internal";
import * as Type from "typebox";
import { type BashOperations, createLocalBashOperations } from "./bash-operations.ts";
import { CommandOutput } from "./command-output.ts";
import { createTool, type PiTool, toResult } from "./tool.ts";
import { DEFAULT_MAX_BYTES, formatSize, type TruncationResult } from "./truncate.ts";

interface BashSpawnContext {
  command: string;
  cwd: string;
  env: NodeJS.ProcessEnv;
}

export interface BashToolOptions {
  /** Default: a shell of this machine. */
  operations?: BashOperations;
  /** Comes before every command, on a line of its own. */
  commandPrefix?: string;
  shellPath?: string;
  /** Changes the command, the directory or the environment before the command is run. */
  spawnHook?: (context: BashSpawnContext) => BashSpawnContext;
}

interface BashToolDetails {
  truncation?: TruncationResult;
  /** The file with all output, if not all is shown. */
  fullOutputPath?: string;
}

interface BashArguments {
  command: string;
  timeout?: number;
}

const parameters = Type.Object({
  command: Type.String({ description: "Command for bash" }),
  timeout: Type.Optional(Type.Number({ description: "Seconds after which it is ended. Default: none" })),
});

export function createBashTool(
  cwd: string,
  { operations, commandPrefix, shellPath, spawnHook = (context) => context }: BashToolOptions = {},
): PiTool<BashToolDetails | undefined> {
  const { exec } = operations ?? createLocalBashOperations(shellPath === undefined ? {} : { shellPath });
  return createTool<BashArguments, BashToolDetails | undefined>("bash", parameters, async (args, signal, onUpdate) => {
    const whole = commandPrefix ? `${commandPrefix}\n${args.command}` : args.command;
    const { command, cwd: directory, env } = spawnHook({ command: whole, cwd, env: { ...process.env } });
    const output = new CommandOutput();
    const onData = (data: Buffer) => {
      output.add(data);
      const tail = output.getTail();
      onUpdate?.(toResult(tail.content, tail.truncated ? getDetails(tail, output) : undefined));
    };
    const options = { onData, env, ...(signal && { signal }), ...(args.timeout && { timeout: args.timeout }) };
    const ended = await exec(command, directory, options).catch((error: unknown) => ({ error }));
    output.close();
    const tail = output.getTail();
    const text = [tail.content, describeCut(tail, output)].filter(Boolean).join("\n\n");
    if ("error" in ended) throw explain(ended.error, text);
    if (ended.exitCode === 0)
      return toResult(text || "(no output)", tail.truncated ? getDetails(tail, output) : undefined);
    const code =
      ended.exitCode === null ? "Command was ended by a signal" : `Command exited with code ${ended.exitCode}`;
    throw new Error(`${text || "(no output)"}\n\n${code}`);
  });
}

const getDetails = (truncation: TruncationResult, { logPath }: CommandOutput): BashToolDetails => ({
  truncation,
  ...(logPath !== undefined && { fullOutputPath: logPath }),
});

/** Says how much was left out, and which file has all of it. */
function describeCut(tail: TruncationResult, { logPath }: CommandOutput): string {
  if (!tail.truncated) return "";
  const last = tail.totalLines;
  const whole = logPath === undefined ? "The full output could not be kept." : `Full output: ${logPath}`;
  if (tail.lastLinePartial) return `[Showing last ${formatSize(tail.outputBytes)} of line ${last}. ${whole}]`;
  const why = tail.truncatedBy === "bytes" ? ` (${formatSize(DEFAULT_MAX_BYTES)} limit)` : "";
  return `[Showing lines ${last - tail.outputLines + 1}-${last} of ${last}${why}. ${whole}]`;
}

function explain(error: unknown, output: string): unknown {
  const message = getErrorMessage(error);
  const before = output === "" ? "" : `${output}\n\n`;
  if (message === "aborted") return new Error(`${before}Command aborted`, { cause: error });
  const seconds = /^timeout:(.+)$/.exec(message)?.[1];
  return seconds === undefined
    ? error
    : new Error(`${before}Command timed out after ${seconds} seconds`, { cause: error });
}

import type { SessionOptions } from "./args.ts";
import type { Io } from "./command.ts";
import { commands } from "./commands/index.ts";
import { type ExitCode, exitCodeOfError, exitCodes } from "./exit-codes.ts";
import { helpText } from "./help.ts";
import { version } from "./version.ts";

/** Runs tau with the arguments a person typed, and says how it ended. Never throws. */
export async function main(args: readonly string[], io: Io): Promise<ExitCode> {
  const [first, ...rest] = args;
  if (first === "--version" || first === "-v") {
    io.out(`${version}\n`);
    return exitCodes.done;
  }
  if (first === "--help" || first === "-h") {
    io.out(helpText(commands));
    return exitCodes.done;
  }
  const command = commands.find(({ name }) => name === first);
  if (command) return await behindWall(`tau ${command.name}`, io, () => runCommand(command.name, rest, io));
  return await behindWall("tau", io, () => startSession(args, io));
}

async function runCommand(name: string, args: readonly string[], io: Io): Promise<ExitCode> {
  const { loaders } = await import("./commands/load.ts");
  const run = await loaders[name]!();
  return await run(args, io);
}

/** What goes wrong is a sentence for the person, never a stack trace. */
async function behindWall(who: string, io: Io, work: () => Promise<ExitCode>): Promise<ExitCode> {
  try {
    return await work();
  } catch (error) {
    if (io.signal.aborted) return exitCodes.interrupted;
    io.err(`${who}: ${formatError(error)}\n`);
    return exitCodeOfError(error);
  }
}

/** The system's own errors say a call and a path, as in "EACCES: permission denied, scandir '/x'". */
function formatError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, path, message } = error as NodeJS.ErrnoException;
  const why = /^[A-Z0-9]+: ([^,]+),/.exec(message)?.[1];
  return path === undefined || why === undefined ? message : `${path} cannot be used: ${why} (${code ?? ""}).`;
}

/** Picks a surface. */
async function startSession(args: readonly string[], io: Io): Promise<ExitCode> {
  const mistake = await nearlyCommand(args, io);
  if (mistake !== undefined) return mistake;
  const { parseSessionArgs } = await import("./args.ts");
  const parsed = parseSessionArgs(args);
  switch (parsed.kind) {
    case "help":
      io.out(helpText(commands));
      return exitCodes.done;
    case "version":
      io.out(`${version}\n`);
      return exitCodes.done;
    case "mistake":
      return await usageMistake(parsed, io);
    case "session":
      return await runMode(parsed.options, io);
  }
}

async function runMode(options: SessionOptions, io: Io): Promise<ExitCode> {
  if (options.listModels !== undefined) return await listModels(options, io);
  if (options.mode === "rpc") return await (await import("./rpc/rpc.ts")).runRpc(options, io);
  if (isNothingSaid(options, io)) {
    io.out(helpText(commands));
    return exitCodes.done;
  }
  if (options.mode === "json") return await (await import("./json.ts")).runJson(options, io);
  return await (await import("./print.ts")).runPrint(options, io);
}

const isNothingSaid = ({ messages, files, resume }: SessionOptions, io: Io) =>
  messages.length === 0 && files.length === 0 && !resume && io.terminal.input;

function listModels({ listModels: search, offline }: SessionOptions, io: Io): Promise<ExitCode> {
  const args = [...(typeof search === "string" ? [search] : []), ...(offline ? ["--offline"] : [])];
  return runCommand("models", args, io);
}

/**
 * A word that nearly is a command, before one of its forms or alone, is one that was misspelled. Alone it may differ by one
 * slip only: `tau hello` is said to the model.
 */
async function nearlyCommand([word = "", form, ...rest]: readonly string[], io: Io): Promise<ExitCode | undefined> {
  const couldBe = commands.filter(({ name, usage }) =>
    form === undefined ? true : usage.some((line) => line.startsWith(`tau ${name} ${form} `)),
  );
  if (couldBe.length === 0 || !/^[a-z]+$/.test(word)) return undefined;
  const names = couldBe.map(({ name }) => name);
  const { nearestNames } = await import("@tau/ai");
  const [suggestion] = nearestNames(word, names, form === undefined ? 1 : undefined);
  if (suggestion === undefined) return undefined;
  const said = [word, form, ...rest].filter((one) => one !== undefined).join(" ");
  io.err(`tau: there is no command ${word}. Did you mean ${suggestion}? To say it to the model: tau -p "${said}"\n`);
  return exitCodes.usage;
}

async function usageMistake({ message, unknown }: { message: string; unknown?: string }, io: Io): Promise<ExitCode> {
  let hint = "";
  if (unknown !== undefined) {
    const { nearestNames } = await import("@tau/ai");
    const { flags } = await import("./flags.ts");
    const [nearest] = nearestNames(
      unknown,
      flags.map(({ name }) => `--${name}`),
    );
    if (nearest !== undefined) hint = ` Did you mean ${nearest}?`;
  }
  io.err(`tau: ${message}.${hint} See tau --help.\n`);
  return exitCodes.usage;
}

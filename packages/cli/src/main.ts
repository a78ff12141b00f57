import type { SessionOptions } from "./args.ts";
import type { Io } from "./command.ts";
import { commands } from "./commands/index.ts";
import { getErrorExitCode, UsageError } from "./errors.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import { helpText } from "./help.ts";
import { version } from "./version.ts";

/** Runs tau with the arguments of the command line. Reports errors as a line on standard error, and never throws. */
export async function main(args: readonly string[], io: Io): Promise<ExitCode> {
  const name = commands.find((command) => command.name === args[0])?.name;
  try {
    const code = name === undefined ? await runSession(args, io) : await runCommand(name, args.slice(1), io);
    return code ?? exitCodes.done;
  } catch (error) {
    if (io.signal.aborted) return exitCodes.interrupted;
    const hint = error instanceof UsageError ? ` See tau ${name === undefined ? "--help" : `help ${name}`}.` : "";
    io.err(`tau${name === undefined ? "" : ` ${name}`}: ${formatError(error)}${hint}\n`);
    return getErrorExitCode(error);
  }
}

const runCommand = async (name: string, args: readonly string[], io: Io): Promise<ExitCode | void> =>
  await (await import("./commands/run.ts")).runCommand(name, args, io);

/** Node's own errors name a system call and a path, for example "EACCES: permission denied, scandir '/x'". */
function formatError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, path, message } = error as NodeJS.ErrnoException;
  const reason = /^[A-Z0-9]+: ([^,]+),/.exec(message)?.[1];
  return path === undefined || reason === undefined ? message : `${path} cannot be used: ${reason} (${code ?? ""}).`;
}

async function runSession(args: readonly string[], io: Io): Promise<ExitCode | void> {
  await checkMisspelledCommand(args);
  const { parseSessionArgs } = await import("./args.ts");
  const [first = ""] = args;
  // At the first position these flags win over any mistake after them.
  const parsed = parseSessionArgs(["-h", "--help", "-v", "--version"].includes(first) ? [first] : args);
  switch (parsed.kind) {
    case "help":
      return io.out(helpText(commands));
    case "version":
      return io.out(`${version}\n`);
    case "mistake":
      throw new UsageError(`${parsed.message}.${await suggestFlag(parsed.unknown)}`);
    case "session":
      return await runMode(parsed.options, io);
  }
}

async function runMode(options: SessionOptions, io: Io): Promise<ExitCode | void> {
  const { listModels: search, messages, files } = options;
  if (search !== undefined) {
    const args = [...(search === true ? [] : [search]), ...(options.offline ? ["--offline"] : [])];
    return await runCommand("models", args, io);
  }
  if (options.mode === "rpc") return await (await import("./rpc/rpc.ts")).runRpc(options, io);
  const hasPrompt = messages.length > 0 || files.length > 0 || !io.terminal.input;
  if (!hasPrompt && !options.resume) return io.out(helpText(commands));
  if (options.mode === "json") return await (await import("./json.ts")).runJson(options, io);
  return await (await import("./print.ts")).runPrint(options, io);
}

/**
 * Throws if the first word looks like a misspelled command. A word alone may differ from a command by one edit only,
 * because `tau hello` is a prompt; before a subcommand it may differ by more.
 */
async function checkMisspelledCommand([word = "", subcommand, ...rest]: readonly string[]): Promise<void> {
  const candidates = commands.filter(({ name, usage }) =>
    subcommand === undefined ? true : usage.some((line) => line.startsWith(`tau ${name} ${subcommand} `)),
  );
  if (candidates.length === 0 || !/^[a-z]+$/.test(word)) return;
  const names = candidates.map(({ name }) => name);
  const { nearestNames } = await import("@tau/ai/internal");
  const [nearest] = nearestNames(word, names, subcommand === undefined ? 1 : undefined);
  if (nearest === undefined) return;
  const prompt = [word, subcommand, ...rest].filter((part) => part !== undefined).join(" ");
  const advice = `To send it to the model, use tau -p "${prompt}".`;
  throw new UsageError(`there is no command ${word}. Did you mean ${nearest}? ${advice}`);
}

async function suggestFlag(unknown: string | undefined): Promise<string> {
  if (unknown === undefined) return "";
  const { didYouMean } = await import("@tau/ai/internal");
  const { flags } = await import("./flags.ts");
  return didYouMean(
    unknown,
    flags.map(({ name }) => `--${name}`),
  );
}

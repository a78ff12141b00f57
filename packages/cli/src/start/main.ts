import { resolve } from "node:path";
import type { SessionOptions } from "./session-options.ts";
import { checkCommandWords } from "./command-words.ts";
import type { Io } from "../commands/command.ts";
import { commands } from "../commands/index.ts";
import { getAdvice, getDetails, getErrorExitCode, UsageError } from "../process/errors.ts";
import { type ExitCode, exitCodes } from "../process/exit-codes.ts";
import { isDumb } from "../process/terminal-text.ts";
import { untilInterrupted } from "../process/until-interrupted.ts";
import { version } from "./version.ts";

/** A command that only the scripts of `tau completion` use. */
const completeCommand = "__complete";

/** Whether pi's other name of `remove` is meant: a source follows, and no sentence. */
const isUninstall = ([name, ...words]: readonly string[]): boolean => {
  const sources = words.filter((word) => !word.startsWith("-"));
  return name === "uninstall" && (sources.length === 1 || sources.every((word) => /[:/@.]/.test(word)));
};

/** Runs tau with the arguments of the command line. Reports errors as a line on standard error, and never throws. */
export async function main(args: readonly string[], io: Io): Promise<ExitCode> {
  if (args[0] === completeCommand) {
    await (await import("../commands/complete.ts")).runComplete(args.slice(1), io);
    return exitCodes.done;
  }
  // A command takes only `-C`, and before its name.
  const { directory, rest } = splitDirectory(args);
  const word = isUninstall(rest) ? "remove" : rest[0];
  const name = commands.find((command) => command.name === word)?.name;
  const topic = name ?? (args.includes("--export") ? "sessions" : undefined);
  try {
    if (name === undefined) return (await runSession(args, io)) ?? exitCodes.done;
    return (await runCommand(name, rest.slice(1), await enter(directory, io))) ?? exitCodes.done;
  } catch (error) {
    if (io.signal.aborted) return exitCodes.interrupted;
    io.err(`tau${name === undefined ? "" : ` ${name}`}: ${formatError(error)}${getAdvice(error, topic)}\n`);
    io.err(await getDetails(error, args, io));
    return getErrorExitCode(error);
  }
}

/** The value of `-C` at the beginning, the last of several, and what follows. */
function splitDirectory(args: readonly string[]): { directory: string | undefined; rest: readonly string[] } {
  const [first = "", second] = args;
  const long = "--directory=";
  const isSplit = (first === "-C" || first === "--directory") && second !== undefined;
  if (!isSplit && !first.startsWith(long)) return { directory: undefined, rest: args };
  const { directory, rest } = splitDirectory(args.slice(isSplit ? 2 : 1));
  return { directory: directory ?? (isSplit ? second : first.slice(long.length)), rest };
}

/** The program as if it was started in `directory`. */
async function enter(directory: string | undefined, io: Io): Promise<Io> {
  if (directory === undefined) return io;
  const { stat } = await import("node:fs/promises");
  const cwd = resolve(io.cwd, directory);
  if ((await stat(cwd).catch(() => undefined))?.isDirectory()) return { ...io, cwd };
  throw new UsageError("arguments", `-C: there is no directory ${cwd}.`);
}

const runCommand = async (name: string, args: readonly string[], io: Io): Promise<ExitCode | void> =>
  await (await import("../commands/run.ts")).runCommand(name, args, io);

/** Node's own errors name a system call and a path, for example "EACCES: permission denied, scandir '/x'". */
function formatError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, path, message } = error as NodeJS.ErrnoException;
  const reason = /^[A-Z0-9]+: ([^,]+),/.exec(message)?.[1];
  if (path === undefined || reason === undefined) return message;
  // Often from a run with sudo.
  const advice = code === "EACCES" ? " Check its owner and its permissions; see tau doctor." : "";
  return `${path} cannot be used: ${reason} (${code ?? ""}).${advice}`;
}

async function runSession(args: readonly string[], io: Io): Promise<ExitCode | void> {
  await checkCommandWords(splitDirectory(args).rest);
  const { parseSessionArgs } = await import("./args.ts");
  const [first = ""] = args;
  const all = parseSessionArgs(args);
  // At the first position these flags win over any error after them.
  const isFirst = ["-v", "--version"].includes(first) || (["-h", "--help"].includes(first) && all.kind === "invalid");
  const parsed = isFirst ? parseSessionArgs([first]) : all;
  switch (parsed.kind) {
    case "help":
      return await (await import("./show-help.ts")).showHelp(await enter(parsed.directory, io), parsed);
    case "version":
      return io.out(`${version}\n`);
    case "invalid":
      throw await createError(parsed);
    case "session":
      await checkOptionWords(parsed.options);
      return await runMode(parsed.options, await enter(parsed.options.directory, io));
  }
}

/** Also words after flags. With `--mode` a program has written the prompt. */
async function checkOptionWords({ print, mode, export: exported, words }: SessionOptions): Promise<void> {
  if (!print && mode === "text" && exported === undefined) await checkCommandWords(words);
}

async function runMode(initial: SessionOptions, io: Io): Promise<ExitCode | void> {
  const { listModels: search, message, unknownFlags } = initial;
  // Options of extensions are for sessions.
  if (unknownFlags && (search !== undefined || initial.export !== undefined)) {
    throw await (await import("./extension-flags.ts")).createUnknownFlagError(unknownFlags);
  }
  if (search !== undefined) {
    const { listModels } = await import("../commands/models.ts");
    const positionals = search === true ? [] : [search];
    return await listModels({ positionals, has: (flag) => flag === "offline" && initial.offline }, io, initial);
  }
  if (initial.export !== undefined) {
    const { exportAsHtml } = await import("../commands/sessions-export.ts");
    return await untilInterrupted(exportAsHtml(initial.export, message, io), io);
  }
  if (initial.worktree !== undefined) {
    const { runInWorktree } = await import("../hosting/worktree.ts");
    return await runInWorktree(initial, io, (inside) => runSurface(initial, inside));
  }
  return await runSurface(initial, io);
}

/** Runs the session in the terminal, or whatever else the flags choose. */
async function runSurface(initial: SessionOptions, io: Io): Promise<ExitCode | void> {
  const { message, files, unknownFlags } = initial;
  const options = initial.extensions.length === 0 ? initial : await fetchNamed(initial, io);
  const isInteractive = options.mode === "text" && !options.print && io.terminal.input && io.terminal.out;
  // Such a terminal can only print lines, so a message is answered as with `-p`.
  if (isInteractive && !isDumb(io.env))
    return await (await import("../modes/run-interactive.ts")).runInteractive(options, io);
  io.claimOutput?.();
  if (options.mode === "rpc") return await (await import("../rpc/rpc.ts")).runRpc(options, io);
  const hasPrompt = message !== "" || files.length > 0 || !io.terminal.input;
  if (isInteractive && !hasPrompt && !options.resume) {
    throw new UsageError(
      "arguments",
      "This terminal can only print lines (TERM=dumb). Add a message, or set TERM to what it is.",
    );
  }
  if (!hasPrompt && !options.resume && !options.print && !unknownFlags) {
    return await (await import("./show-help.ts")).showHelp(io, options);
  }
  if (options.gateway) return await (await import("../gateway/run-prompt.ts")).runPromptInGateway(options, io);
  return await (await import("../modes/run-prompts.ts")).runPrompts(options, io);
}

const fetchNamed = async (options: SessionOptions, io: Io): Promise<SessionOptions> =>
  await (await import("../hosting/named-packages.ts")).fetchNamedPackages(options, io);

async function createError({ message, unknown }: { message: string; unknown?: string }): Promise<UsageError> {
  const { suggestFlag } = await import("./extension-flags.ts");
  return new UsageError("arguments", `${message}.${await suggestFlag(unknown)}`);
}

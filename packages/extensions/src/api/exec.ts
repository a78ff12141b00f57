/** Runs a program for an extension in this process, with the rights of this process. */
import type { RunningProcess } from "@tau/tools";
import { maxOutputMb, type ProgramEnd, runToEnd } from "@tau/tools/platform";
import type { ExecOptions, ExecResult } from "./api.ts";
import type { ExtensionSessionPort } from "./session-port.ts";

/** Programs with a group of their own, which a terminal does not interrupt together with ours. */
const running = new Set<RunningProcess>();
const endAll = () => running.forEach((child) => child.signal("SIGTERM", "group"));

/**
 * Never rejects: a program that cannot be started has the code 1 and says why on `stderr`. One that writes too much is
 * ended. One with a time limit or a signal is ended together with all that it has started.
 */
export async function execProgram(
  command: string,
  args: readonly string[],
  { cwd, signal, timeout = 0, maxBuffer }: ExecOptions & { cwd: string },
): Promise<ExecResult> {
  // Late, because few extensions run programs.
  const { createSpawn } = await import("@tau/tools");
  const detached = timeout > 0 || signal !== undefined;
  const env = process.env as Record<string, string>;
  const child = await createSpawn()({ argv: [command, ...args], cwd, env, detached });

  if (detached) {
    if (running.size === 0) process.on("exit", endAll);
    running.add(child);
  }
  const target = detached ? "group" : "process";
  const limits = { signal, timeoutMs: timeout, maxOutputBytes: maxBuffer, target } as const;
  const end = await runToEnd(child, limits);
  if (running.delete(child) && running.size === 0) process.off("exit", endAll);
  return toResult(end, maxBuffer);
}

/** Like `execProgram`, for a program that `spawn` starts. Rejects if that refuses it. */
export async function execSpawned(
  spawn: ExtensionSessionPort["spawn"],
  command: string,
  args: readonly string[],
  { cwd, env, input, sandbox, signal, timeout = 0, maxBuffer }: ExecOptions,
): Promise<ExecResult> {
  const program = await spawn(command, args, {
    ...(cwd !== undefined && { cwd }),
    ...(env && { env }),
    ...(sandbox !== undefined && { sandbox }),
  });
  // A program may end without reading it.
  program.stdin.on("error", () => undefined);
  program.stdin.end(input);
  // Its time is over: it is not asked first.
  const child = { ...program, signal: () => void program.end(0) };
  const end = await runToEnd(child, { signal, timeoutMs: timeout, maxOutputBytes: maxBuffer, target: "process" });
  return toResult({ ...end, stderr: end.stderr + (program.getExcess() ?? "") }, maxBuffer);
}

function toResult(
  { stdout, stderr, status, isKilled, isTooMuch }: ProgramEnd,
  maxBuffer: number | undefined,
): ExecResult {
  const limit = isTooMuch && maxBuffer === undefined ? `It wrote more than ${maxOutputMb} MB, and was ended.` : "";
  const message = status.kind === "failed" ? status.message : limit;
  const code = status.kind === "exited" ? status.code : 1;
  const ended = { killed: isKilled, truncated: isTooMuch };
  return { stdout, stderr: stderr + message, code: isTooMuch ? code || 1 : code, ...ended };
}

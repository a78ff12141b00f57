/** Runs a program for an extension in this process, with the rights of this process. */
import type { Readable } from "node:stream";
import { systemClock } from "@tau/ai";
import { untilTimeout } from "@tau/ai/internal";
import type { RunningProcess } from "@tau/tools";
import type { ExecOptions, ExecResult } from "./api.ts";

/** How long a program may take to end after it was asked to. */
const killAfterMs = 5_000;

/** Of each of the two outputs. */
const maxOutputMb = 16;

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
  { cwd, signal, timeout = 0 }: ExecOptions & { cwd: string },
): Promise<ExecResult> {
  // Late, because few extensions run programs.
  const { createSpawn } = await import("@tau/tools");
  const detached = timeout > 0 || signal !== undefined;
  const env = process.env as Record<string, string>;
  const child = await createSpawn()({ argv: [command, ...args], cwd, env, detached });

  let killed = false;
  let settleKilled: () => void;
  const whenKilled = new Promise<void>((resolve) => (settleKilled = resolve));
  const kill = () => {
    if (killed) return;
    killed = true;
    void end(child, whenDone, detached ? "group" : "process").then(settleKilled);
  };
  let message = "";
  const onTooMuch = () => {
    message = `It wrote more than ${maxOutputMb} MB, and was ended.`;
    kill();
  };
  const [stdout, stderr] = [collect(child.stdout, onTooMuch), collect(child.stderr, onTooMuch)];
  const whenClosed = Promise.all([stdout.closed, stderr.closed]);
  const whenDone = child.exit.then<unknown>(({ kind }) => kind !== "failed" && whenClosed);

  if (detached) {
    if (running.size === 0) process.on("exit", endAll);
    running.add(child);
  }
  const timer = timeout > 0 ? setTimeout(kill, timeout) : undefined;
  signal?.addEventListener("abort", kill, { once: true });
  if (signal?.aborted) kill();
  await Promise.race([whenDone, whenKilled]);
  clearTimeout(timer);
  signal?.removeEventListener("abort", kill);
  if (running.delete(child) && running.size === 0) process.off("exit", endAll);

  const status = await child.exit;
  if (status.kind === "failed") message = status.message;
  const code = status.kind === "exited" ? status.code : 1;
  return { stdout: stdout.take(), stderr: stderr.take() + message, code, killed };
}

/** Resolves when the program has ended, though what it started may not have. */
async function end(child: RunningProcess, whenDone: Promise<unknown>, target: "process" | "group"): Promise<void> {
  child.signal("SIGTERM", target);
  await untilTimeout(whenDone, killAfterMs, systemClock);
  child.signal("SIGKILL", target);
  await child.exit;
}

function collect(stream: Readable, onTooMuch: () => void) {
  const pieces: Buffer[] = [];
  let room = maxOutputMb * 1024 * 1024;
  stream.on("data", (piece: Buffer) => {
    if (room > 0) pieces.push(piece.subarray(0, room));
    else onTooMuch();
    room -= piece.length;
  });
  return {
    closed: new Promise<void>((resolve) => stream.once("close", resolve)),
    /** Whatever still holds the pipe writes into nothing from now on. */
    take() {
      stream.destroy();
      return Buffer.concat(pieces).toString("utf8");
    },
  };
}

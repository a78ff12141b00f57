/** Runs a program for an extension in this process, with the rights of this process. */
import { spawn } from "node:child_process";
import type { ExecOptions, ExecResult } from "./api.ts";

/** How long a program may take to end after it was asked to. */
const killAfterMs = 5_000;

/** Never rejects: a program that cannot be started has the code 1 and says why on `stderr`. */
export function execProgram(
  command: string,
  args: readonly string[],
  { cwd, signal, timeout }: ExecOptions & { cwd: string },
): Promise<ExecResult> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"], windowsHide: true });
    const output = { stdout: "", stderr: "" };
    let killed = false;
    let killTimer: NodeJS.Timeout | undefined;
    const kill = () => {
      if (killed) return;
      killed = true;
      child.kill("SIGTERM");
      killTimer = setTimeout(() => child.kill("SIGKILL"), killAfterMs).unref();
    };
    const timer = timeout === undefined || timeout <= 0 ? undefined : setTimeout(kill, timeout);
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("utf8").on("data", (text: string) => (output[name] += text));
    }
    const finish = (code: number) => {
      clearTimeout(timer);
      clearTimeout(killTimer);
      signal?.removeEventListener("abort", kill);
      resolve({ ...output, code, killed });
    };
    child.on("error", (error) => {
      output.stderr += error.message;
      finish(1);
    });
    child.on("close", (code) => finish(code ?? (killed ? 1 : 0)));
    if (signal?.aborted) kill();
    else signal?.addEventListener("abort", kill, { once: true });
  });
}

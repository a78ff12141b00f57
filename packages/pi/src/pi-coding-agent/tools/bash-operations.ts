/** How commands are run: on this machine, or as an extension does it. */
import { existsSync } from "node:fs";
import { withoutUndefined } from "@tau/ai/internal";
import { createSpawn } from "@tau/tools";
import { getShellConfig } from "../shell-config.ts";

export interface BashOperations {
  /**
   * Rejects with the message `aborted`, or `timeout:` and the seconds, for a command that was ended. The exit code is null
   * for one that a signal ended.
   */
  exec(
    command: string,
    cwd: string,
    options: {
      onData(data: Buffer): void;
      signal?: AbortSignal;
      /** Seconds. */
      timeout?: number;
      env?: NodeJS.ProcessEnv;
    },
  ): Promise<{ exitCode: number | null }>;
}

/** How long output may still come after the command itself has ended: what it left behind may hold the pipe. */
const drainMs = 250;

export function createLocalBashOperations({ shellPath }: { shellPath?: string } = {}): BashOperations {
  return {
    async exec(command, cwd, { onData, signal, timeout, env = process.env }) {
      if (!existsSync(cwd)) {
        throw new Error(`Working directory does not exist: ${cwd}\nCannot execute bash commands.`);
      }
      if (signal?.aborted) throw new Error("aborted");
      const { shell, args } = getShellConfig(shellPath);
      const variables = withoutUndefined(env) as Record<string, string>;
      const child = await createSpawn()({ argv: [shell, ...args, command], cwd, env: variables, detached: true });
      let ended: "aborted" | `timeout:${number}` | undefined;
      const end = (why: NonNullable<typeof ended>) => {
        ended ??= why;
        child.signal("SIGKILL", "group");
      };
      const onAbort = () => end("aborted");
      signal?.addEventListener("abort", onAbort, { once: true });
      const timer = timeout ? setTimeout(() => end(`timeout:${timeout}`), timeout * 1_000) : undefined;
      const closed = [child.stdout, child.stderr].map(
        (stream) =>
          new Promise<void>((resolve) => {
            stream.on("data", onData).once("close", resolve);
          }),
      );
      const status = await child.exit;
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      await untilDrained(closed);
      if (ended) throw new Error(ended);
      if (status.kind === "failed") throw new Error(status.message);
      return { exitCode: status.kind === "exited" ? status.code : null };
    },
  };
}

async function untilDrained(closed: readonly Promise<void>[]): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, drainMs);
  });
  await Promise.race([Promise.all(closed), late]);
  clearTimeout(timer);
}

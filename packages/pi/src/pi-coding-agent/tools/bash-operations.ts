/** How commands are run: on this machine, or as an extension does it. */
import { once } from "node:events";
import { existsSync } from "node:fs";
import type { Readable } from "node:stream";
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

/** How long the pipes may be silent after the command itself has ended: a process that it left behind may hold them. */
const maxSilenceMs = 250;

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
      // The signal may have been aborted while the command was started.
      if (signal?.aborted) onAbort();
      const timer = timeout ? setTimeout(() => end(`timeout:${timeout}`), timeout * 1_000) : undefined;
      const pipes = [child.stdout.on("data", onData), child.stderr.on("data", onData)];
      const status = await child.exit;
      await drain(pipes);
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      if (ended) throw new Error(ended);
      if (status.kind === "failed") throw new Error(status.message);
      return { exitCode: status.kind === "exited" ? status.code : null };
    },
  };
}

/** Reads pipes to their end, or until they are silent. Nothing is read from them afterwards. */
async function drain(pipes: readonly Readable[]): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, maxSilenceMs);
  });
  const closed = pipes.map((pipe) => pipe.on("data", () => timer?.refresh()).closed || once(pipe, "close"));
  await Promise.race([Promise.all(closed), silence]);
  clearTimeout(timer);
  for (const pipe of pipes) pipe.destroy();
}

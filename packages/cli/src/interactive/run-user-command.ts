/** Runs a command of the user's own settings, with the user's rights, within limits. */
import { getErrorMessage } from "@tau/ai/internal";
import { createSpawn } from "@tau/tools";
import { runToEnd } from "@tau/tools/platform";
import type { RunUserCommand } from "./user-command.ts";

const maxCommandMs = 5_000;
const maxOutputBytes = 64 * 1024;

interface RunOptions {
  readonly log?: (message: string) => void;
  /** Default `maxCommandMs`. */
  readonly timeoutMs?: number;
}

export const createRunUserCommand =
  ({ log = () => {}, timeoutMs = maxCommandMs }: RunOptions = {}): RunUserCommand =>
  async ({ command, cwd, input }, signal) => {
    try {
      const child = await createSpawn()({
        argv: ["sh", "-c", command],
        cwd,
        env: process.env as Record<string, string>,
        stdin: "pipe",
        detached: true,
        isAside: true,
      });
      child.stdin?.end(JSON.stringify(input));
      const { stdout, status, isKilled } = await runToEnd(child, {
        signal,
        timeoutMs,
        maxOutputBytes,
        // What it left behind may hold the pipes.
        maxPipeMs: 100,
        killAfterMs: 100,
        target: "group",
      });
      child.signal("SIGKILL", "group");
      return status.kind === "exited" && status.code === 0 && !isKilled ? stdout : undefined;
    } catch (error) {
      log(`A command of your settings could not be run: ${getErrorMessage(error)}`);
      return undefined;
    }
  };

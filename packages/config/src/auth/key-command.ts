/** Runs commands that print a key, such as those of a password manager. Each is run once, and its key is kept in memory. */
import { spawn } from "node:child_process";
import { type Clock, systemClock } from "@tau/ai";
import { type Failed, failed } from "./failure.ts";
import { checkKey, type KeyValue } from "./key-value.ts";

interface KeyCommandsOptions {
  clock?: Clock;
  /** Default 10,000. */
  timeoutMs?: number;
}

/** Runs a command, unless its key is known. A failure is not kept: the user may unlock the password manager meanwhile. */
export type KeyCommands = (command: string, subject: string) => Promise<KeyValue>;

const maxBytes = 64 * 1024;

export function createKeyCommands({ clock = systemClock, timeoutMs = 10_000 }: KeyCommandsOptions = {}): KeyCommands {
  const known = new Map<string, Promise<KeyValue>>();
  return async (command, subject) => {
    const running = known.get(command) ?? run(command, { subject, clock, timeoutMs });
    known.set(command, running);
    const outcome = await running;
    if (outcome.kind === "failed" && known.get(command) === running) known.delete(command);
    return outcome;
  };
}

/** Shared by the whole process. */
export const keyCommands: KeyCommands = createKeyCommands();

interface RunOptions extends Required<KeyCommandsOptions> {
  subject: string;
}

/** Messages have neither the command nor its output: both may hold the key. */
function run(command: string, { subject, clock, timeoutMs }: RunOptions): Promise<KeyValue> {
  const name = `The command for ${subject}`;
  const advice = "Run it in a terminal to see why.";
  const ownGroup = process.platform !== "win32";
  return new Promise((resolve) => {
    const child = start(command, ownGroup);
    if (!child) return resolve(failed("command", `${name} could not be started. ${advice}`));
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (outcome: KeyValue) => {
      cancel();
      resolve(outcome);
    };
    const stop = (outcome: Failed) => {
      end(child.pid, ownGroup);
      child.stdout.destroy();
      settle(outcome);
    };
    const cancel = clock.setTimer(timeoutMs, () =>
      stop(failed("command", `${name} did not end within ${timeoutMs / 1000} s and was stopped. ${advice}`)),
    );
    child.once("error", () => settle(failed("command", `${name} could not be started. ${advice}`)));
    // When our process has run out of descriptors, Node creates no pipe.
    child.stdout?.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) stop(failed("command", `${name} prints more than ${maxBytes} bytes. ${advice}`));
      else chunks.push(chunk);
    });
    child.once("close", (code, signal) => {
      const how = signal ? `was ended by ${signal}` : `ended with code ${code}`;
      if (code !== 0) return settle(failed("command", `${name} ${how}. ${advice}`));
      const key = checkKey(Buffer.concat(chunks).toString("utf8"), subject);
      const problem = `${name} has to print one line, the key. ${advice}`;
      settle(key.kind === "value" ? key : failed("command", problem));
    });
  });
}

/** Undefined for a command that cannot be passed to a shell. The error would quote the command, so it is dropped. */
function start(command: string, ownGroup: boolean) {
  try {
    return spawn(command, {
      shell: true,
      stdio: ["ignore", "pipe", "ignore"],
      detached: ownGroup,
      windowsHide: true,
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return undefined;
  }
}

function end(pid: number | undefined, ownGroup: boolean): void {
  if (pid === undefined) return;
  try {
    process.kill(ownGroup ? -pid : pid, "SIGKILL");
  } catch (error) {
    // It has exited meanwhile.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

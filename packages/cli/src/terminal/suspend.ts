import { HarnessError } from "@tau/protocol";
/** A system that stops the program does so at once. */
const maxWaitMs = 100;

/**
 * Stops the program for the shell, with all that it was started with. Resolves when `fg` lets it continue. Rejects if
 * it was not stopped: the system ignores the signal where no shell could let the program continue, as in `ssh -t` or in
 * a container.
 */
export async function suspend(self: NodeJS.Process): Promise<void> {
  if (self.platform === "win32") throw new HarnessError("unavailable", "Windows cannot suspend a program.");
  await new Promise<void>((resolve, reject) => {
    const onContinue = () => {
      clearTimeout(timer);
      resolve();
    };
    const giveUp = () => {
      self.off("SIGCONT", onContinue);
      reject(new HarnessError("unavailable", ignored));
    };
    // After a stop the timer is due, and the signal is handled before what the timer asks for.
    const timer = setTimeout(() => setImmediate(giveUp), maxWaitMs);
    self.once("SIGCONT", onContinue);
    self.kill(0, "SIGTSTP");
  });
}

const ignored = "tau cannot be suspended here: it was not started from a shell that could let it continue.";

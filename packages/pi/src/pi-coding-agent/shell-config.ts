/** The shell that runs commands. */
import { existsSync } from "node:fs";

interface ShellConfig {
  shell: string;
  /** Before the command. */
  args: string[];
}

/** A shell of the user's choice must exist. */
export function getShellConfig(shellPath?: string): ShellConfig {
  if (shellPath !== undefined && !existsSync(shellPath)) {
    throw new Error(`The shell ${shellPath} does not exist. Change shellPath in the settings.`);
  }
  const bash = ["/bin/bash", "/usr/bin/bash"].find((path) => existsSync(path));
  return { shell: shellPath ?? bash ?? "sh", args: ["-c"] };
}

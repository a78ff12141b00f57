/** tmux passes on keys such as Shift-Enter only if it is configured to. */
import { execFile } from "node:child_process";
import { takeExtendedKeysNotice } from "./terminal-state.ts";

export const extendedKeysNotice = [
  "tmux does not pass on keys such as shift+enter. To change that, add these lines to ~/.tmux.conf and restart tmux:",
  "  set -s extended-keys on",
  "  set -as terminal-features 'xterm*:extkeys'",
  "Until then, ctrl+j begins a new line, and so does enter after a \\.",
].join("\n");

/** The notice, once, if it is needed. */
export async function describeExtendedKeys(
  agentDir: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  if (!env["TMUX"] || (await askTmux(env)) !== "off") return undefined;
  return (await takeExtendedKeysNotice(agentDir)) ? extendedKeysNotice : undefined;
}

/** The value of its option; empty if tmux does not answer or does not know it. */
const askTmux = (env: Readonly<Record<string, string | undefined>>): Promise<string> =>
  new Promise((resolve) => {
    execFile("tmux", ["show-options", "-sv", "extended-keys"], { env, timeout: 1_000 }, (error, stdout) =>
      resolve(error ? "" : stdout.trim()),
    );
  });

/** Copies text to the clipboard of this machine, with a program of the system. */
import { spawn } from "node:child_process";

type Env = Readonly<Record<string, string | undefined>>;
type CopyCommand = readonly [command: string, ...args: string[]];

/** The programs to try, in their order. None over ssh: that clipboard is on the other machine. Pure. */
export function listCopyCommands(env: Env, platform: NodeJS.Platform): readonly CopyCommand[] {
  if (env["SSH_CONNECTION"] || env["SSH_TTY"]) return [];
  if (platform === "darwin") return [["pbcopy"]];
  if (platform === "win32") return [["clip"]];
  return [
    ...(env["TERMUX_VERSION"] ? [["termux-clipboard-set"] as const] : []),
    ...(env["WAYLAND_DISPLAY"] ? [["wl-copy"] as const] : []),
    ...(env["DISPLAY"]
      ? ([
          ["xclip", "-selection", "clipboard"],
          ["xsel", "--clipboard", "--input"],
        ] as const)
      : []),
    ...(env["WSL_DISTRO_NAME"] ? [["clip.exe"] as const] : []),
  ];
}

/** Resolves to whether a program took the text. */
export async function copyToSystem(
  text: string,
  env: Env,
  platform: NodeJS.Platform = process.platform,
): Promise<boolean> {
  for (const command of listCopyCommands(env, platform)) {
    // Node reports most reasons why a program does not start as an event, and throws for the others.
    if (await run(command, text, env).catch(() => false)) return true;
  }
  return false;
}

/** Waits for the exit and not for closed pipes: programs of X leave a process behind that serves the text. */
const run = ([command, ...args]: CopyCommand, text: string, env: Env): Promise<boolean> =>
  new Promise((resolve) => {
    const child = spawn(command, args, { env: env as NodeJS.ProcessEnv, stdio: ["pipe", "ignore", "ignore"] });
    child.once("error", () => resolve(false));
    child.once("exit", (code) => resolve(code === 0));
    // A program that does not read is found out by its exit code. Without descriptors Node creates no pipe.
    child.stdin?.once("error", () => resolve(false));
    child.stdin?.end(text);
  });

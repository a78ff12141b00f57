/** Opens an address in the browser of this machine. */
import { spawn } from "node:child_process";

type Env = Readonly<Record<string, string | undefined>>;

function getCommand(platform: NodeJS.Platform, url: string): readonly [command: string, ...args: string[]] {
  if (platform === "darwin") return ["open", url];
  // `start` of cmd would read `&` in the address as the end of its command.
  return platform === "win32" ? ["rundll32", "url.dll,FileProtocolHandler", url] : ["xdg-open", url];
}

/** Does not wait for the browser. Nothing happens where there is none: the address is shown too. */
export function openAddress(url: string, env: Env, platform: NodeJS.Platform = process.platform): void {
  if (!/^https?:\/\//.test(url)) return;
  const [command, ...args] = getCommand(platform, url);
  const child = spawn(command, args, { env: env as NodeJS.ProcessEnv, stdio: "ignore", detached: true });
  child.once("error", () => child.unref());
  child.unref();
}

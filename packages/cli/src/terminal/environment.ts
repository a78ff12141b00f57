/** Reads from variables and settings what the terminal can do. Pure. */
import type { Settings } from "@tau/config/settings";
import type { TerminalCapabilities } from "@tau/tui";
import type { StatusMode } from "../interactive/index.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Variables have pi's names, or the same with `TAU_`, which wins. */
const read = (env: Environment, name: string): string | undefined => env[`TAU_${name}`] || env[`PI_${name}`];

const switches: Readonly<Record<string, boolean>> = { "1": true, "0": false };
const protocols = { kitty: "kitty", iterm2: "iterm2", none: null } as const;

/** Resolves what is known of the terminal without looking at it: by the settings, else by variables. */
export function resolveCapabilities(
  { hyperlinks, images, trueColor }: Settings["terminal"],
  env: Environment,
): Partial<TerminalCapabilities> {
  const choose = (setting: boolean | "auto", name: string) =>
    setting === "auto" ? switches[read(env, name) ?? ""] : setting;
  const named = protocols[(read(env, "IMAGE_PROTOCOL") ?? "").toLowerCase() as keyof typeof protocols];
  const protocol = images === "auto" ? named : images || null;
  const shown = { hyperlinks: choose(hyperlinks, "HYPERLINKS"), trueColor: choose(trueColor, "TRUE_COLOR") };
  return {
    ...(shown.hyperlinks !== undefined && { hyperlinks: shown.hyperlinks }),
    ...(shown.trueColor !== undefined && { trueColor: shown.trueColor }),
    ...(protocol !== undefined && { images: protocol }),
  };
}

export const showsHardwareCursor = ({ showHardwareCursor }: Pick<Settings, "showHardwareCursor">, env: Environment) =>
  showHardwareCursor || read(env, "HARDWARE_CURSOR") === "1";

/** How long Escape alone waits; undefined if nothing is said, so that the terminal library decides. */
export function getEscapeTimeoutMs(env: Environment): number | undefined {
  const timeoutMs = Number(read(env, "TUI_ESC_TIMEOUT"));
  return timeoutMs > 0 ? timeoutMs : undefined;
}

/** Whether what tau is doing is reported to the terminal. */
export function getStatusMode(env: Environment): StatusMode {
  const isOn = switches[read(env, "PROGRAM_STATUS") ?? ""];
  return isOn === undefined ? "ask" : isOn ? "always" : "never";
}

/** Which keys the terminal can have. */
export function getKeyPlatform(platform: NodeJS.Platform, env: Environment): "windows" | "wsl" | "other" {
  if (platform === "win32") return "windows";
  return platform === "linux" && Boolean(env["WSL_DISTRO_NAME"] || env["WSL_INTEROP"]) ? "wsl" : "other";
}

/** The command of the user's own editor. */
export const getEditorCommand = (setting: string | undefined, env: Environment, platform: NodeJS.Platform): string =>
  setting || env["VISUAL"] || env["EDITOR"] || (platform === "win32" ? "notepad" : "nano");

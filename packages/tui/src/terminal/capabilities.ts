/** Finds in the environment what the terminal can do beyond text in 256 colors. */
import { execFileSync } from "node:child_process";

export type ImageProtocol = "kitty" | "iterm2" | null;

export interface TerminalCapabilities {
  images: ImageProtocol;
  /** 24 bits for a color. */
  trueColor: boolean;
  /** OSC 8. A terminal without it may drop the link and its text. */
  hyperlinks: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

const full = (images: ImageProtocol): TerminalCapabilities => ({ images, trueColor: true, hyperlinks: true });

/** Terminals by the variables that they set. The first that fits is used. */
const terminals: readonly { isUsed: (env: Environment) => boolean; capabilities: TerminalCapabilities }[] = [
  { isUsed: hasName("kitty", "KITTY_WINDOW_ID", "xterm-kitty"), capabilities: full("kitty") },
  { isUsed: hasName("ghostty", "GHOSTTY_RESOURCES_DIR", "xterm-ghostty"), capabilities: full("kitty") },
  { isUsed: hasName("wezterm", "WEZTERM_PANE", "wezterm"), capabilities: full("kitty") },
  { isUsed: hasName("warpterminal", "WARP_SESSION_ID"), capabilities: full("kitty") },
  { isUsed: (env) => Boolean(env["WARP_TERMINAL_SESSION_UUID"]), capabilities: full("kitty") },
  { isUsed: hasName("iterm.app", "ITERM_SESSION_ID"), capabilities: full("iterm2") },
  { isUsed: hasName("vscode"), capabilities: full(null) },
  { isUsed: hasName("zed"), capabilities: full(null) },
  { isUsed: hasName("alacritty", undefined, "alacritty"), capabilities: full(null) },
  { isUsed: hasName("windows terminal", "WT_SESSION"), capabilities: full(null) },
  { isUsed: (env) => /^foot(-|$)/.test(env["TERM"] ?? ""), capabilities: full(null) },
  {
    isUsed: (env) => env["TERMINAL_EMULATOR"] === "JetBrains-JediTerm",
    capabilities: { images: null, trueColor: true, hyperlinks: false },
  },
];

function hasName(program: string, variable?: string, term?: string): (env: Environment) => boolean {
  return (env) =>
    env["TERM_PROGRAM"]?.toLowerCase() === program ||
    Boolean(variable !== undefined && env[variable]) ||
    (term !== undefined && env["TERM"] === term);
}

/**
 * Detects what the environment shows, without what `setCapabilityOverrides` says. `PI_HYPERLINKS`, `PI_IMAGE_PROTOCOL` and
 * `PI_TRUE_COLOR` overrule it.
 */
export function detectCapabilities(tmuxForwardsHyperlink = askTmuxForHyperlinks): TerminalCapabilities {
  const { env } = process;
  return { ...detectByTerminal(env, tmuxForwardsHyperlink), ...readOverrides(env) };
}

function detectByTerminal(env: Environment, tmuxForwardsHyperlink: () => boolean): TerminalCapabilities {
  const term = env["TERM"] ?? "";
  const unknown = { images: null, trueColor: hasTrueColor(env, term), hyperlinks: false };
  // A multiplexer passes on the variables of the terminal around it, but not what the terminal can do.
  if (env["TMUX"] || term.startsWith("tmux")) return { ...unknown, hyperlinks: tmuxForwardsHyperlink() };
  if (env["STY"] || term.startsWith("screen") || term === "dumb") return unknown;
  return terminals.find(({ isUsed }) => isUsed(env))?.capabilities ?? unknown;
}

const hasTrueColor = (env: Environment, term: string): boolean =>
  ["truecolor", "24bit"].includes(env["COLORTERM"]?.toLowerCase() ?? "") ||
  term.endsWith("-direct") ||
  process.platform === "win32";

function readOverrides(env: Environment): Partial<TerminalCapabilities> {
  const protocols: Record<string, ImageProtocol> = { kitty: "kitty", iterm2: "iterm2", none: null };
  const images = protocols[env["PI_IMAGE_PROTOCOL"]?.toLowerCase() ?? ""];
  const trueColor = readSwitch(env["PI_TRUE_COLOR"]);
  const hyperlinks = readSwitch(env["PI_HYPERLINKS"]);
  return {
    ...(images === undefined ? {} : { images }),
    ...(trueColor === undefined ? {} : { trueColor }),
    ...(hyperlinks === undefined ? {} : { hyperlinks }),
  };
}

const readSwitch = (value: string | undefined): boolean | undefined =>
  value === "1" ? true : value === "0" ? false : undefined;

function askTmuxForHyperlinks(): boolean {
  try {
    const features = execFileSync("tmux", ["display-message", "-p", "#{client_termfeatures}"], {
      encoding: "utf8",
      timeout: 250,
      stdio: ["ignore", "pipe", "ignore"],
    });
    return features.split(/[,\s]/).includes("hyperlinks");
  } catch {
    return false; // There is no tmux to ask, or it does not answer.
  }
}

let overrides: Partial<TerminalCapabilities> = {};
let detected: TerminalCapabilities | undefined;
let fixed: TerminalCapabilities | undefined;
let hidesImages = false;

/** Returns what the terminal can do: by the user's settings, else by the environment, which is looked at once. */
export function getCapabilities(): TerminalCapabilities {
  const capabilities = fixed ?? (detected ??= { ...detectCapabilities(), ...overrides });
  return hidesImages ? { ...capabilities, images: null } : capabilities;
}

/** Whether images are drawn as text now, whatever the terminal can do. Default false. */
export function setImagesHidden(isHidden: boolean): void {
  hidesImages = isHidden;
}

/** Sets what the user's settings say. It overrules the environment; what is not named is detected. */
export function setCapabilityOverrides(values: Partial<TerminalCapabilities>): void {
  overrides = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
  detected = undefined;
}

/** Sets all capabilities, against settings and environment, until `resetCapabilitiesCache`. */
export function setCapabilities(capabilities: TerminalCapabilities): void {
  fixed = capabilities;
}

/** Detects anew with the next `getCapabilities`. Overrides stay. */
export function resetCapabilitiesCache(): void {
  fixed = undefined;
  detected = undefined;
}

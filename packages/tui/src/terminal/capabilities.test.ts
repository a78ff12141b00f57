import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  detectCapabilities,
  getCapabilities,
  resetCapabilitiesCache,
  setCapabilities,
  setCapabilityOverrides,
} from "./capabilities.ts";
import { parseOsc11BackgroundColor, parseTerminalColorSchemeReport } from "./colors.ts";

const variables =
  "TERM TERM_PROGRAM COLORTERM TMUX STY KITTY_WINDOW_ID GHOSTTY_RESOURCES_DIR WEZTERM_PANE ITERM_SESSION_ID WT_SESSION WARP_SESSION_ID WARP_TERMINAL_SESSION_UUID TERMINAL_EMULATOR PI_HYPERLINKS PI_IMAGE_PROTOCOL PI_TRUE_COLOR";

const reset = () => {
  for (const name of variables.split(" ")) vi.stubEnv(name, undefined);
  setCapabilityOverrides({});
  resetCapabilitiesCache();
};
beforeEach(reset);
afterEach(() => {
  reset();
  vi.unstubAllEnvs();
});

function detect(env: Record<string, string>, tmuxForwardsHyperlink = false): string {
  for (const name of variables.split(" ")) vi.stubEnv(name, env[name]);
  const { images, trueColor, hyperlinks } = detectCapabilities(() => tmuxForwardsHyperlink);
  return [images ?? "none", trueColor ? "true color" : "", hyperlinks ? "links" : ""].filter(Boolean).join(", ");
}

test.skipIf(process.platform === "win32")("a terminal is known by the variables that it sets", () => {
  const TERM = "xterm-256color";
  const table: [Record<string, string>, string][] = [
    [{}, "none"],
    [{ TERM }, "none"],
    [{ TERM, COLORTERM: "truecolor" }, "none, true color"],
    [{ TERM: "xterm-direct" }, "none, true color"],
    [{ TERM, KITTY_WINDOW_ID: "1" }, "kitty, true color, links"],
    [{ TERM: "xterm-kitty" }, "kitty, true color, links"],
    [{ TERM, TERM_PROGRAM: "Ghostty" }, "kitty, true color, links"],
    [{ TERM: "xterm-ghostty" }, "kitty, true color, links"],
    [{ TERM, WEZTERM_PANE: "0" }, "kitty, true color, links"],
    [{ TERM, TERM_PROGRAM: "WarpTerminal" }, "kitty, true color, links"],
    [{ TERM, WARP_SESSION_ID: "x" }, "kitty, true color, links"],
    [{ TERM, WARP_TERMINAL_SESSION_UUID: "x" }, "kitty, true color, links"],
    [{ TERM, TERM_PROGRAM: "iTerm.app" }, "iterm2, true color, links"],
    [{ TERM, TERM_PROGRAM: "vscode" }, "none, true color, links"],
    [{ TERM, TERM_PROGRAM: "Apple_Terminal" }, "none"],
    [{ TERM, WT_SESSION: "x" }, "none, true color, links"],
    [{ TERM, TERMINAL_EMULATOR: "JetBrains-JediTerm" }, "none, true color"],
    [{ TERM: "dumb", KITTY_WINDOW_ID: "1" }, "none"],
  ];
  for (const [env, capabilities] of table) expect([env, detect(env)]).toEqual([env, capabilities]);
});

test("a multiplexer hides what the terminal around it can do, but tmux may forward links", () => {
  const kitty = { KITTY_WINDOW_ID: "1", COLORTERM: "truecolor" };
  expect(detect({ ...kitty, TERM: "tmux-256color", TMUX: "x" })).toBe("none, true color");
  expect(detect({ ...kitty, TERM: "tmux-256color", TMUX: "x" }, true)).toBe("none, true color, links");
  expect(detect({ ...kitty, TERM: "screen-256color", STY: "x" }, true)).toBe("none, true color");
});

test("what the user's variables say is not detected, and what they do not say is", () => {
  const TERM = "xterm-kitty";
  expect(detect({ TERM, PI_HYPERLINKS: "0" })).toBe("kitty, true color");
  expect(detect({ TERM, PI_IMAGE_PROTOCOL: "none" })).toBe("none, true color, links");
  expect(detect({ TERM, PI_IMAGE_PROTOCOL: "iterm2", PI_TRUE_COLOR: "0" })).toBe("iterm2, links");
  for (const value of ["auto", "", "perhaps"]) {
    expect(detect({ TERM, PI_HYPERLINKS: value, PI_IMAGE_PROTOCOL: value, PI_TRUE_COLOR: value })).toBe(
      detect({ TERM }),
    );
  }
  expect(detect({ TERM: "tmux", PI_IMAGE_PROTOCOL: "kitty", PI_HYPERLINKS: "1", PI_TRUE_COLOR: "1" })).toBe(
    "kitty, true color, links",
  );
});

test("settings overrule variables, and capabilities that are set overrule both until they are reset", () => {
  vi.stubEnv("TERM", "xterm-kitty");
  vi.stubEnv("PI_TRUE_COLOR", "1");
  expect(getCapabilities()).toBe(getCapabilities());
  setCapabilityOverrides({ trueColor: false });
  expect(getCapabilities()).toEqual({ images: "kitty", trueColor: false, hyperlinks: true });
  const none = { images: null, trueColor: false, hyperlinks: false };
  setCapabilities(none);
  setCapabilityOverrides({ images: null });
  expect(getCapabilities()).toBe(none);
  resetCapabilitiesCache();
  expect(getCapabilities()).toEqual({ images: null, trueColor: true, hyperlinks: true });
});

test("the background color is read from one to four digits for each part", () => {
  const color = { r: 255, g: 0, b: 128 };
  for (const text of [
    "rgb:ff/00/80",
    "rgb:ffff/0000/8080",
    "RGB:FFF/000/808",
    "rgba:ff/00/80/ff",
    "#ff0080",
    "#ffff00008080",
  ]) {
    for (const end of ["\x07", "\x1b\\"]) {
      expect([text, parseOsc11BackgroundColor(`\x1b]11;${text}${end}`)]).toEqual([text, color]);
    }
    expect(parseOsc11BackgroundColor(`\x1b]11;${text}`)).toBeUndefined();
    expect(parseOsc11BackgroundColor(`\x1b]10;${text}\x07`)).toBeUndefined();
  }
  expect(parseOsc11BackgroundColor("\x1b]11;rgb:f/0/8\x07")).toEqual({ r: 255, g: 0, b: 136 });
  for (const text of ["red", "#f08", "rgb:ff/00"])
    expect(parseOsc11BackgroundColor(`\x1b]11;${text}\x07`)).toBeUndefined();
});

test("the last report of the color scheme counts", () => {
  expect(parseTerminalColorSchemeReport("\x1b[?997;1n")).toBe("dark");
  expect(parseTerminalColorSchemeReport("\x1b[?997;1n\x1b[?997;2n")).toBe("light");
  for (const data of ["", "x\x1b[?997;1n", "\x1b[?997;3n", "\x1b[?997n"]) {
    expect(parseTerminalColorSchemeReport(data)).toBeUndefined();
  }
});

import { SettingsManager } from "@tau/config/settings";
import { expect, test } from "vitest";
import {
  getEditorCommand,
  getEscapeTimeoutMs,
  getKeyPlatform,
  resolveCapabilities,
  showsHardwareCursor,
} from "./environment.ts";

const { terminal } = SettingsManager.inMemory().get();

test.each([
  [{}, {}, {}],
  [
    {},
    { PI_HYPERLINKS: "1", PI_TRUE_COLOR: "0", PI_IMAGE_PROTOCOL: "none" },
    { hyperlinks: true, trueColor: false, images: null },
  ],
  [
    {},
    { TAU_HYPERLINKS: "0", PI_HYPERLINKS: "1", TAU_IMAGE_PROTOCOL: "Kitty" },
    { hyperlinks: false, images: "kitty" },
  ],
  [{}, { PI_HYPERLINKS: "auto", PI_TRUE_COLOR: "auto", PI_IMAGE_PROTOCOL: "auto" }, {}],
  [
    { hyperlinks: true, images: false },
    { PI_HYPERLINKS: "0", PI_IMAGE_PROTOCOL: "kitty" },
    { hyperlinks: true, images: null },
  ],
  [{ images: "iterm2", trueColor: false }, {}, { images: "iterm2", trueColor: false }],
] as const)("settings %j over variables %j give %j", (settings, env, expected) => {
  expect(resolveCapabilities({ ...terminal, ...settings }, env)).toEqual(expected);
});

test.each([
  [{}, undefined],
  [{ PI_TUI_ESC_TIMEOUT: "250" }, 250],
  [{ TAU_TUI_ESC_TIMEOUT: "30", PI_TUI_ESC_TIMEOUT: "250" }, 30],
  [{ TAU_TUI_ESC_TIMEOUT: "soon" }, undefined],
])("%j: Escape waits for %s", (env, expected) => {
  expect(getEscapeTimeoutMs(env)).toBe(expected);
});

test("the cursor of the terminal is shown by the setting or by a variable", () => {
  expect(showsHardwareCursor({ showHardwareCursor: false }, {})).toBe(false);
  expect(showsHardwareCursor({ showHardwareCursor: true }, {})).toBe(true);
  expect(showsHardwareCursor({ showHardwareCursor: false }, { PI_HARDWARE_CURSOR: "1" })).toBe(true);
  expect(showsHardwareCursor({ showHardwareCursor: false }, { TAU_HARDWARE_CURSOR: "1" })).toBe(true);
});

test.each([
  ["win32", {}, "windows"],
  ["linux", { WSL_DISTRO_NAME: "Ubuntu" }, "wsl"],
  ["linux", {}, "other"],
  ["darwin", { WSL_INTEROP: "x" }, "other"],
] as const)("%s with %j has the keys of %s", (platform, env, expected) => {
  expect(getKeyPlatform(platform, env)).toBe(expected);
});

test.each([
  ["code --wait", { VISUAL: "vim", EDITOR: "ed" }, "linux", "code --wait"],
  [undefined, { VISUAL: "vim", EDITOR: "ed" }, "linux", "vim"],
  [undefined, { EDITOR: "ed" }, "linux", "ed"],
  [undefined, {}, "linux", "nano"],
  [undefined, {}, "win32", "notepad"],
] as const)("the editor of %s with %j on %s is %s", (setting, env, platform, expected) => {
  expect(getEditorCommand(setting, env, platform)).toBe(expected);
});

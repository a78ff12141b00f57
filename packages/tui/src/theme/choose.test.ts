import { expect, test } from "vitest";
import { chooseTheme, decideAppearance } from "./choose.ts";

const known = ["dark", "light", "mine"];

test.each([
  [undefined, "dark", "system", true],
  ["", "dark", "system", true],
  ["system", "light", "system", true],
  ["mine", "dark", "mine", false],
  ["mine", "light", "mine", false],
  ["light/dark", "light", "light", true],
  ["light/dark", "dark", "dark", true],
  ["light / mine", "dark", "mine", true],
  ["system/mine", "light", "system", true],
  // The other half of a pair is looked up when it is needed.
  ["nothing/mine", "dark", "mine", true],
] as const)("the setting %j on a %s terminal gives the theme %s", (setting, appearance, name, followsTerminal) => {
  expect(chooseTheme(setting, known, appearance)).toEqual({ name, followsTerminal });
});

test.each([
  ["nothing", 'There is no theme "nothing". There are: system, dark, light, mine.'],
  ["light/nothing", 'There is no theme "nothing". There are: system, dark, light, mine.'],
  ["a/b/c", 'The theme "a/b/c" is neither a name nor a pair such as "light/dark".'],
  ["/dark", 'The theme "/dark" is neither a name nor a pair such as "light/dark".'],
  ["light/", 'The theme "light/" is neither a name nor a pair such as "light/dark".'],
  ["\x1b[1m", 'There is no theme "?[1m". There are: system, dark, light, mine.'],
])("the setting %j gives the theme system and says why", (setting, problem) => {
  expect(chooseTheme(setting, known, "dark")).toEqual({ name: "system", followsTerminal: true, problem });
});

const gray = (level: number) => ({ r: level, g: level, b: level });

test.each([
  [{}, "dark"],
  [{ colors: { background: gray(255) }, scheme: "dark", colorFgBg: "15;0" }, "light"],
  [{ colors: { background: gray(0) }, scheme: "light" }, "dark"],
  // White has a contrast of 4.48 on this gray, and black of 4.69.
  [{ colors: { background: gray(119) } }, "light"],
  [{ colors: { background: gray(118) } }, "light"],
  [{ colors: { background: gray(117) } }, "dark"],
  // The terminal's own text counts where such text can be read.
  [{ colors: { background: gray(118), foreground: gray(255) } }, "dark"],
  [{ colors: { background: gray(119), foreground: gray(255) } }, "light"],
  [{ colors: { background: gray(117), foreground: gray(0) } }, "light"],
  // A foreground alone says nothing.
  [{ colors: { foreground: gray(0) } }, "dark"],
  [{ scheme: "light", colorFgBg: "15;0" }, "light"],
  [{ colorFgBg: "15;0" }, "dark"],
  [{ colorFgBg: "0;15" }, "light"],
  [{ colorFgBg: "0;default;7" }, "light"],
  [{ colorFgBg: "12;8" }, "dark"],
  [{ colorFgBg: "12;6" }, "dark"],
  [{ colorFgBg: "0;9" }, "light"],
  [{ colorFgBg: "0;default" }, "dark"],
  [{ colorFgBg: "0;16" }, "dark"],
  [{ colorFgBg: "15" }, "dark"],
] as const)("with %j the terminal is %s", (hints, appearance) => {
  expect(decideAppearance(hints)).toBe(appearance);
});

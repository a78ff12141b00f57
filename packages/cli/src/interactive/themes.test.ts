import { builtInThemes, type ThemeDefinition } from "@tau/tui";
import { expect, test } from "vitest";
import { colorQuestions, Themes } from "./themes.ts";

const own: ThemeDefinition = { ...(builtInThemes[0] as ThemeDefinition), name: "own" };
const files = [{ definition: own, path: "/themes/own.json" }];
const white = "\x1b]11;rgb:ffff/ffff/ffff\x1b\\";
const black = "\x1b]11;rgb:0000/0000/0000\x07";

test("all colors are asked for: the defaults and 16 of the palette", () => {
  const questions = colorQuestions.split("\x1b\\").slice(0, -1);
  expect(questions).toHaveLength(18);
  for (const question of ["10", "11", "4;0", "4;15"]) expect(questions).toContain(`\x1b]${question};?`);
});

test("the theme is the same object while its colors change with the answers of the terminal", () => {
  const themes = new Themes({ mode: "truecolor" });
  const { theme } = themes;
  const before = theme.getFgAnsi("muted");
  expect(themes.update()).toBe(false);
  expect(themes.takeAnswer(white)).toBe(true);
  expect(themes.update()).toBe(true);
  expect(themes.theme).toBe(theme);
  expect(theme.getFgAnsi("muted")).not.toBe(before);
  expect(theme.appearance).toBe("light");
});

test("what is no answer is left for others", () => {
  const themes = new Themes({ mode: "truecolor" });
  for (const key of ["a", "\x1b", "\x1b[A", "\x1b]52;c;aGk=\x07"]) expect(themes.takeAnswer(key)).toBe(false);
});

test("a pair follows the terminal, and its colors are asked for when it says that it has changed", () => {
  let asked = 0;
  const themes = new Themes({ mode: "truecolor", setting: "light/dark", colorFgBg: "0;15", ask: () => void asked++ });
  expect(themes.theme.name).toBe("light");
  themes.takeAnswer(black);
  themes.update();
  expect(themes.theme.name).toBe("dark");
  themes.setScheme("light");
  expect(asked).toBe(1);
  themes.takeAnswer(white);
  themes.update();
  expect(themes.theme.name).toBe("light");
});

test("a theme can be looked at without being chosen", () => {
  const themes = new Themes({ mode: "truecolor", setting: "dark", files });
  themes.preview("own");
  themes.update();
  expect([themes.theme.name, themes.setting]).toEqual(["own", "dark"]);
  themes.preview(undefined);
  themes.update();
  expect(themes.theme.name).toBe("dark");
});

test("a theme that is not there is told with all that are, and the colors are those of the terminal", () => {
  const themes = new Themes({ mode: "truecolor", setting: "onw", files });
  expect(themes.theme.name).toBe("system");
  expect(themes.problem).toBe('There is no theme "onw". There are: system, dark, light, high-contrast, own.');
  themes.setSetting("own");
  themes.update();
  expect([themes.theme.name, themes.problem, themes.activeFile]).toEqual(["own", undefined, "/themes/own.json"]);
});

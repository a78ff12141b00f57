import { expect, test } from "vitest";
import { checkSettings } from "./check.ts";

test.each([
  { quietStartup: "header" },
  { quietStartup: true },
  { terminal: { hyperlinks: false, images: false, trueColor: true } },
  { terminal: { images: "kitty" } },
  { outputPad: 0 },
  { editorPaddingX: 3 },
  { autocompleteMaxVisible: 20 },
  { fullscreenWheelScrollLines: 100 },
  { markdown: { codeBlockIndent: "" } },
])("%j is accepted", (values) => {
  expect(checkSettings(values, { trusted: true })).toEqual({ values, errors: [] });
});

test.each([
  [{ quietStartup: "yes" }, "quietStartup"],
  [{ terminal: { images: true } }, "terminal.images"],
  [{ outputPad: 2 }, "outputPad"],
  [{ editorPaddingX: 4 }, "editorPaddingX"],
  [{ autocompleteMaxVisible: 2 }, "autocompleteMaxVisible"],
  [{ fullscreenWheelScrollLines: 0 }, "fullscreenWheelScrollLines"],
])("%j is an error", (values, key) => {
  const { errors } = checkSettings(values, { trusted: true });
  expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining(key)]);
});

test("a project that is not trusted chooses neither the editor that is started nor files of themes", () => {
  const values = { externalEditor: "rm", themes: ["/etc"], theme: "dark" };
  expect(checkSettings(values, { trusted: false, isProject: true }).values).toEqual({ theme: "dark" });
});

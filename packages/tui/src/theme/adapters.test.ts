import { expect, test } from "vitest";
import { SelectList } from "../components/select-list.ts";
import { stripTerminalSequences } from "../text/escape.ts";
import { getEditorTheme, getMarkdownTheme, getSelectListTheme, getSettingsListTheme } from "./adapters.ts";
import { builtInThemes } from "./built-in.ts";
import { createTheme } from "./theme.ts";
import type { ThemeDefinition } from "./tokens.ts";

const theme = createTheme(builtInThemes[0] as ThemeDefinition, "truecolor");

test("every part of Markdown has its own color", () => {
  const markdown = getMarkdownTheme(theme, { codeBlockIndent: "    ", highlightCode: (code) => [code] });
  expect(markdown.heading("x")).toBe(theme.fg("mdHeading", "x"));
  expect(markdown.linkUrl("x")).toBe(theme.fg("mdLinkUrl", "x"));
  expect(markdown.codeBlockBorder("x")).toBe(theme.fg("mdCodeBlockBorder", "x"));
  expect(markdown.listBullet("x")).toBe(theme.fg("mdListBullet", "x"));
  expect(markdown.underline("x")).toBe(theme.underline("x"));
  expect(markdown.codeBlockIndent).toBe("    ");
  expect(markdown.highlightCode?.("x")).toEqual(["x"]);
});

test("selected items have the accent", () => {
  const select = getSelectListTheme(theme);
  expect(select.selectedText("x")).toBe(theme.fg("accent", "x"));
  const settings = getSettingsListTheme(theme);
  expect(settings.label("x", true)).toBe(theme.fg("accent", "x"));
  expect(settings.label("x", false)).toBe("x");
  expect(settings.value("x", false)).toBe(theme.fg("muted", "x"));
  expect(settings.cursor).toBe(theme.fg("accent", "→ "));
});

test("an editor has a quiet border and the list for its suggestions", () => {
  const editor = getEditorTheme(theme);
  expect(editor.borderColor("─")).toBe(theme.fg("borderMuted", "─"));
  expect(editor.selectList.description("x")).toBe(theme.fg("muted", "x"));
});

test("a label and a description that are cut end in a mark", () => {
  const item = { value: "v", label: "a long label", description: "a long description" };
  const list = new SelectList([item], 3, getSelectListTheme(theme), { maxPrimaryColumnWidth: 10 });
  const lines = [...list.render(42), ...list.render(12)].map((line) => stripTerminalSequences(line));
  expect(lines).toEqual(["→ a long …  a long description", "→ a long …"]);
});

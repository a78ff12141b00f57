/** Tests the keys of dialogs with a list and a search. */
import { stripTerminalSequences } from "@tau/tui";
import { expect, test } from "vitest";
import { Themes } from "../themes.ts";
import { Picker } from "./picker.ts";
import { ScopedModelsDialog } from "./scoped-models.ts";

const { theme } = new Themes({ mode: "none", files: [] });
const pageUp = "\x1b[5~";
const pageDown = "\x1b[6~";
const left = "\x1b[D";
const ignore = () => {};

function openModels(count: number) {
  const items = Array.from({ length: count }, (_, index) => ({
    name: `acme/m${index}`,
    provider: "acme",
    description: "",
  }));
  const options = { items, chosen: [], theme, getMaxRows: () => 8, describeKey: String };
  const dialog = new ScopedModelsDialog({ ...options, onSave: ignore, onCancel: ignore });
  const getSelected = () => {
    const lines = dialog.render(80).map(stripTerminalSequences);
    return lines.map((line) => /^→ +(\S+)/.exec(line)?.[1]).find((name) => name !== undefined);
  };
  return { press: (key: string) => dialog.handleInput(key), getSelected };
}

test("pages of models are turned, and keys of the search that change nothing leave the selection", () => {
  const { press, getSelected } = openModels(20);
  const steps = [pageDown, left, pageDown, pageDown, pageUp].map((key) => {
    press(key);
    return getSelected();
  });
  expect(steps).toEqual(["acme/m8", "acme/m8", "acme/m16", "acme/m19", "acme/m11"]);
  press("7");
  expect(getSelected()).toBe("acme/m7");
});

test("what a search selects is highlighted, as what the keys select", () => {
  const highlighted: string[] = [];
  const items = ["dark", "light", "system"].map((value) => ({ value, label: value }));
  const size = { rows: 24, columns: 80 };
  const onHighlight = (value: string) => highlighted.push(value);
  const picker = new Picker({ title: "Theme", items, theme, size, onHighlight, onSelect: ignore, onCancel: ignore });
  for (const key of ["\x1b[B", "s", "z"]) picker.handleInput(key);
  expect(highlighted).toEqual(["light", "system"]);
});

test("a hint that has no room is shown in pages, so that title, search and choices stay visible", () => {
  const items = ["no", "yes"].map((value) => ({ value, label: value }));
  const hint = Array.from({ length: 200 }, (_, index) => `.tau/skills/skill-${index}/SKILL.md`).join(", ");
  const size = { rows: 24, columns: 80 };
  const picker = new Picker({ title: "Trust", items, theme, size, hint, onSelect: ignore, onCancel: ignore });
  const draw = () => picker.render(size.columns).map(stripTerminalSequences);
  /** The status takes two lines. */
  const maxRows = () => size.rows - 2;
  expect(draw().length).toBeLessThanOrEqual(maxRows());
  expect(draw().join("\n")).toContain("skill-0/");
  for (let page = 0; page < 20; page++) picker.handleInput(pageDown);
  expect(draw().join("\n")).toContain("skill-199/");
  expect(draw()).toContain("→ no");
  size.rows = 12;
  expect(draw().length).toBeLessThanOrEqual(maxRows());
});

test("a search that finds nothing says so, whatever the list is of, and the list can be left", () => {
  const items = [{ value: "dark", label: "dark" }];
  let isLeft = false;
  const onCancel = () => void (isLeft = true);
  const picker = new Picker({
    title: "Theme",
    items,
    theme,
    size: { rows: 24, columns: 80 },
    onSelect: ignore,
    onCancel,
  });
  picker.handleInput("z");
  expect(picker.render(80).map(stripTerminalSequences).join("\n")).toMatch(/Nothing matches\./);
  picker.handleInput("\r");
  picker.handleInput("\x1b");
  expect(isLeft).toBe(true);
});

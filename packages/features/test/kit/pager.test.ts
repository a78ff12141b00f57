/** The pager of the terminal, with keys and a screen of its own. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { breakLine, Pager } from "../../src/kit/pager.ts";

function open(text: string, rows = 15) {
  let isOpen = true;
  const pager = new Pager(text, {
    tui: { terminal: { rows }, requestRender: () => {} },
    theme: { fg: (color, part) => `<${color}>${part}` },
    keybindings: { matches: (data, action) => `tui.select.${data}` === action },
    onClose: () => void (isOpen = false),
  });
  return { pager, isOpen: () => isOpen };
}

const lines = Array.from({ length: 25 }, (_, index) => `line ${index + 1}`);

test("keys move through the text and stop at its ends", () => {
  const { pager } = open(lines.join("\n"));
  const press = (...keys: string[]) => {
    for (const key of keys) pager.handleInput(key);
    return pager.render(40)[0];
  };
  expect(press()).toBe("line 1");
  expect(pager.render(40).at(-1)).toContain("Lines 1 to 10 of 25.");
  expect(press("down", "down", "up")).toBe("line 2");
  expect(press("pageDown", "pageDown", "pageDown")).toBe("line 16");
  expect(press("pageUp", "pageUp", "up")).toBe("line 1");
});

test.each(["cancel", "confirm", "q"])("%s closes it", (key) => {
  const { pager, isOpen } = open("text");
  pager.handleInput(key);
  expect(isOpen()).toBe(false);
});

test("lines of a diff have its colors, and nothing in a text acts on the terminal", () => {
  const { pager } = open("+added\n-removed\n same\n@@ -1 +1 @@\n\u001b[2Jgone");
  expect(pager.render(40).slice(0, 5)).toEqual([
    "<toolDiffAdded>+added",
    "<toolDiffRemoved>-removed",
    " same",
    "<dim>@@ -1 +1 @@",
    "\\u{1b}[2Jgone",
  ]);
});

test("nothing of a line is lost when it is broken", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 40 }), fc.integer({ min: 2, max: 80 }), (line, width) => {
      expect(breakLine(line, width).join("")).toBe(line);
    }),
  );
});

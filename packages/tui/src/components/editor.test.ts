import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { visibleWidth } from "../text/cells.ts";
import { create } from "../../test/editor-kit.ts";

describe("the editor draws", () => {
  test.each([
    [{}, 12, "hello world foo", ["────────────", "hello       ", "world foo   ", "────────────"]],
    [{ paddingX: 2 }, 14, "hello wörld 你好", ["──────────────", "  hello       ", "  wörld 你好  ", "──────────────"]],
    [{ paddingX: 9 }, 6, "abc", ["──────", "  ab  ", "  c   ", "──────"]],
    [{}, 8, "a\x1b[31mb\x07", ["────────", "a␛[31mb ", "␇       ", "────────"]],
  ] as const)("%j at %d columns: %j", (options, width, text, lines) => {
    const { editor, draw } = create(options, width);
    editor.setText(text);
    expect(draw()).toEqual(lines);
  });

  test("no line is wider than the screen, however narrow it is", () => {
    for (const paddingX of [0, 1, 3]) {
      const { editor } = create({ paddingX });
      editor.setText("hello 你好 👨‍👩‍👧 world\n\ufe0fx\u202e");
      for (let width = 1; width < 12; width++) {
        for (const line of editor.render(width)) expect(visibleWidth(line), line).toBeLessThanOrEqual(width);
      }
    }
  });

  test("no control character of any text, and never more columns than there are", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 1, max: 12 }), (text, width) => {
        const { editor } = create();
        editor.setText(`${text}\x1b]0;title\x07\x9b5n`);
        for (const line of editor.render(width)) {
          expect(visibleWidth(line)).toBeLessThanOrEqual(width);
          const shown = line.replace("\x1b_pi:c\x07", "").replaceAll(/\x1b\[[07]m/g, "");
          expect(shown).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
        }
      }),
    );
  });

  test("the same array while nothing changes, and another after a key", () => {
    const { editor, press } = create();
    const lines = editor.render(20);
    expect(editor.render(20)).toBe(lines);
    expect(press("a").render(20)).not.toBe(lines);
  });

  test("at most its share of the terminal, with what is hidden in the borders", () => {
    const { editor, press, draw } = create();
    editor.setText(Array.from({ length: 20 }, (_, index) => `line${index}`).join("\n"));
    expect(draw()).toEqual([
      "──── ↑ 15 more ─────",
      ...[15, 16, 17, 18, 19].map((index) => `line${index}`.padEnd(20)),
      "────────────────────",
    ]);
    press(...Array.from({ length: 7 }, () => "up"));
    expect(draw()[0]).toBe("──── ↑ 12 more ─────");
    expect(draw().at(-1)).toBe("───── ↓ 3 more ─────");
    expect(draw(11)[0]).toBe("─── ↑ 12...");
    expect(draw(5)[0]).toBe("──...");
  });

  test("the marker of the cursor only with the focus", () => {
    const { editor, press } = create();
    press("ab", "left");
    expect(editor.render(6)[1]).toBe("a\x1b_pi:c\x07\x1b[7mb\x1b[0m    ");
    editor.focused = false;
    expect(editor.render(6)[1]).toBe("a\x1b[7mb\x1b[0m    ");
  });
});

describe("keys", () => {
  test.each<[string, string[], string]>([
    ["Enter after a backslash breaks the line", ["ab\\", "enter"], "ab\n|"],
    [
      "up and down keep the column over short lines",
      ["long line", "newLine", "ab", "newLine", "another", "up", "up"],
      "long li|ne\nab\nanother",
    ],
    [
      "down comes back to the column",
      ["long line", "newLine", "ab", "newLine", "another", "up", "up", "down", "down"],
      "long line\nab\nanother|",
    ],
    ["the column is counted as it is seen", ["abcd", "newLine", "你好你好", "left", "left", "up"], "abcd|\n你好你好"],
    ["up on the first row goes to its start", ["abc", "up"], "|abc"],
    ["down on the last row goes to its end", ["abc", "home", "down"], "abc|"],
    ["a jump goes to the next such character", ["a,b,c", "home", "jump", ",", "jump", ","], "a,b|,c"],
    ["another key ends a jump and does its own", ["ab", "jump", "left", "x"], "ax|b"],
    ["a killed line comes back with yank", ["one", "newLine", "two", "killLine", "killLine", "yank"], "one\ntwo|"],
    [
      "pages move by the rows that are shown",
      ["a", ...Array.from({ length: 9 }, () => "newLine"), "pageUp"],
      `a${"\n".repeat(4)}|${"\n".repeat(5)}`,
    ],
  ])("%s", (_, script, expected) => {
    const { press, state } = create();
    press(...script);
    expect(state()).toBe(expected);
  });

  test("Enter sends the text without blanks around it, and the editor is empty", () => {
    const { press, state, submitted, changes } = create();
    press("  hi ", "enter", "undo");
    expect(submitted).toEqual(["hi"]);
    expect(state()).toBe("|");
    expect(changes.at(-1)).toBe("");
  });

  test("Enter does nothing while sending is disabled", () => {
    const { editor, press, submitted } = create();
    editor.disableSubmit = true;
    press("hi", "enter");
    expect([submitted, editor.getText()]).toEqual([[], "hi"]);
  });

  test("what changes nothing calls nobody", () => {
    const { press, changes } = create();
    press("backspace", "yank", "left", "killWord");
    expect(changes).toEqual([]);
  });

  test("redo brings back what was undone", () => {
    const { editor, press } = create();
    press("one two", "undo");
    editor.redo();
    expect(editor.getText()).toBe("one two");
  });
});

describe("prompt history", () => {
  const withHistory = () => {
    const kit = create();
    for (const prompt of ["one", "two\nlines", "two\nlines", "  ", " three "]) kit.editor.addToHistory(prompt);
    return kit;
  };

  test.each<[string, string[], string]>([
    ["goes back with the cursor at the start", ["up"], "|three"],
    ["goes on from there", ["up", "up", "up", "up"], "|one"],
    ["comes forward with the cursor at the end", ["up", "up", "up", "down"], "two\nlines|"],
    ["moves within a prompt first", ["up", "up", "down"], "two\n|lines"],
    ["keeps the draft and its cursor", ["draft", "up", "up", "up", "down", "down", "down"], "|draft"],
    ["makes an edited prompt the draft", ["up", "x", "up", "up", "down"], "|xthree"],
    ["is one step of undo", ["draft", "home", "up", "up", "undo"], "|draft"],
  ])("%s", (_, script, expected) => {
    const { press, state } = withHistory();
    press(...script);
    expect(state()).toBe(expected);
  });
});

describe("large pastes", () => {
  const twelve = Array.from({ length: 12 }, (_, index) => `l${index}`).join("\n");

  test("are a marker that is sent as the text", () => {
    const { editor, press, paste, submitted } = create();
    paste(twelve);
    press("!");
    expect(editor.getText()).toBe("[paste #1 +12 lines]!");
    expect(editor.getExpandedText()).toBe(`${twelve}!`);
    press("enter");
    expect(submitted).toEqual([`${twelve}!`]);
  });

  test.each<[string, string, string]>([
    ["ten lines", "a\n".repeat(9), "a\n".repeat(9)],
    ["eleven lines", "a\n".repeat(10), "[paste #1 +11 lines]"],
    ["1000 characters", "a".repeat(1000), "a".repeat(1000)],
    ["1001 characters", "a".repeat(1001), "[paste #1 1001 chars]"],
    ["control characters are dropped", "a\x1b[31m\x07b\tc\r\nd", "a[31mb    c\nd"],
    ["line breaks that come as keys", "a\x1b[106;5ub", "a\nb"],
  ])("%s", (_, text, expected) => {
    const { editor, paste } = create();
    paste(text);
    expect(editor.getText()).toBe(expected);
  });

  test("a marker is one character for every key", () => {
    const { press, paste, state } = create();
    press("q");
    paste(twelve);
    press("left");
    expect(state()).toBe("q|[paste #1 +12 lines]");
    press("right", "killWord");
    expect(state()).toBe("q|");
    press("yank", "backspace");
    expect(state()).toBe("q|");
  });

  test("markers after a deleted one get lower numbers, and an undo brings all back", () => {
    const { editor, press, paste } = create({}, 60);
    paste(twelve);
    paste("b\n".repeat(11));
    press("left", "backspace");
    expect(editor.getText()).toBe("[paste #1 +12 lines]");
    expect(editor.getExpandedText()).toBe("b\n".repeat(11));
    press("undo");
    expect(editor.getExpandedText()).toBe(twelve + "b\n".repeat(11));
  });

  test.each<[string, string[], string]>([
    ["deleted", ["killWord", "yank", "backspace", "yank"], "A"],
    ["given to another paste", ["killWord", "B", "yank"], "BA"],
    ["sent", ["x", "left", "killWord", "enter", "yank"], "A"],
    ["deleted once of two", ["killWord", "yank", "yank", "backspace"], "A"],
    ["moved up", ["B", "killWord", "backspace", "yank"], "B"],
  ])("a marker that was cut comes back with its text: %s", (_, script, expected) => {
    const { editor, press, paste } = create({}, 60);
    const texts: Record<string, string> = { A: "a\n".repeat(11), B: "b\n".repeat(12) };
    paste(texts["A"]!);
    for (const step of script) {
      if (texts[step] === undefined) press(step);
      else paste(texts[step]);
    }
    expect(editor.getExpandedText()).toBe([...expected].map((name) => texts[name]).join(""));
  });

  test("a marker that nobody pasted is text", () => {
    const { press, state } = create();
    press("[paste #7 +12 lines]", "left");
    expect(state()).toBe("[paste #7 +12 lines|]");
  });

  test("a paste that comes in pieces is one, and what follows is typed", () => {
    const { editor } = create();
    for (const piece of ["\x1b[200~a", "b\x1b[2", "01~", "c"]) editor.handleInput(piece);
    expect(editor.getText()).toBe("abc");
  });

  test("a path gets a blank after a word", () => {
    const { editor, press, paste } = create();
    press("see");
    paste("/tmp/x");
    expect(editor.getText()).toBe("see /tmp/x");
  });
});

test("an edit of a text of one megabyte costs little", () => {
  const { editor, press } = create();
  for (const text of [
    "some line of code here\n".repeat(45_000),
    "words and more ".repeat(70_000),
    "你好".repeat(180_000),
  ]) {
    editor.setText(text);
    editor.render(80);
    press(...Array.from({ length: 20 }, () => "pageUp"));
    const before = process.cpuUsage();
    for (let index = 0; index < 50; index++) press("x").render(80);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 50 / 1000, "milliseconds a key").toBeLessThan(50);
  }
});

test("a click puts the cursor on the character", () => {
  const { editor, state } = create();
  editor.setText("hello\n你好x");
  editor.render(20);
  const click = (x: number, y: number) =>
    editor.handleMouse({
      type: "click",
      button: "left",
      x,
      y,
      screenX: x,
      screenY: y,
      width: 20,
      height: 4,
      shift: false,
      alt: false,
      ctrl: false,
    });
  expect(click(1, 2)).toEqual({ handled: true, focus: true });
  expect(state()).toBe("hello\n|你好x");
  click(19, 1);
  expect(state()).toBe("hello|\n你好x");
});

import fc from "fast-check";
import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { AutocompleteProvider } from "../completion/autocomplete.ts";
import { TUI } from "../screen/tui.ts";
import { VirtualTerminal } from "../testing/virtual-terminal.ts";
import { stripTerminalSequences } from "../text/escape.ts";
import { visibleWidth } from "../text/cells.ts";
import { Editor, type EditorOptions } from "./editor.ts";

const plain = (text: string) => text;
const theme = {
  borderColor: plain,
  selectList: { selectedPrefix: plain, selectedText: plain, description: plain, scrollInfo: plain, noMatch: plain },
};
const keys: Record<string, string> = {
  left: "\x1b[D",
  right: "\x1b[C",
  up: "\x1b[A",
  down: "\x1b[B",
  pageUp: "\x1b[5~",
  pageDown: "\x1b[6~",
  enter: "\r",
  newLine: "\n",
  backspace: "\x7f",
  home: "\x01",
  end: "\x05",
  undo: "\x1f",
  killWord: "\x17",
  killLine: "\x15",
  yank: "\x19",
  tab: "\t",
  escape: "\x1b",
  jump: "\x1d",
};

let tui: TUI;
beforeAll(async () => {
  tui = new TUI(await VirtualTerminal.create(80, 10));
});

function create(options: EditorOptions = {}, width = 20) {
  const editor = new Editor(tui, theme, options);
  const submitted: string[] = [];
  const changes: string[] = [];
  editor.onSubmit = (text) => submitted.push(text);
  editor.onChange = (text) => changes.push(text);
  editor.focused = true;
  editor.render(width);
  const press = (...names: string[]) => {
    for (const name of names) {
      if (name in keys) editor.handleInput(keys[name] as string);
      else for (const character of name) editor.handleInput(character);
    }
    return editor;
  };
  const paste = (text: string) => editor.handleInput(`\x1b[200~${text}\x1b[201~`);
  /** The text with `|` for the cursor. */
  const state = () => {
    const { line, col } = editor.getCursor();
    const lines = editor.getLines();
    lines[line] = `${lines[line]?.slice(0, col)}|${lines[line]?.slice(col)}`;
    return lines.join("\n");
  };
  const draw = (columns = width) => editor.render(columns).map(stripTerminalSequences);
  return { editor, press, paste, state, draw, submitted, changes };
}

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

describe("completion", () => {
  type Call = { before: string; force: boolean | undefined; signal: AbortSignal };

  function withProvider(items: Record<string, string[]>, extra: Partial<AutocompleteProvider> = {}) {
    const kit = create();
    const calls: Call[] = [];
    kit.editor.setAutocompleteProvider({
      async getSuggestions(lines, line, col, { signal, force }) {
        const before = (lines[line] ?? "").slice(0, col);
        calls.push({ before, force, signal });
        const prefix = /\S*$/.exec(before)?.[0] ?? "";
        const values = items[prefix];
        return values ? { items: values.map((value) => ({ value, label: value })), prefix } : null;
      },
      applyCompletion(lines, cursorLine, cursorCol, { value }, prefix) {
        const line = lines[cursorLine] ?? "";
        const start = cursorCol - prefix.length;
        const result = [...lines];
        result[cursorLine] = line.slice(0, start) + value + line.slice(cursorCol);
        return { lines: result, cursorLine, cursorCol: start + value.length };
      },
      ...extra,
    });
    return { ...kit, calls, asked: () => calls.map(({ before }) => before) };
  }

  beforeEach(() => {
    vi.useFakeTimers();
    return () => vi.useRealTimers();
  });
  const settle = () => vi.advanceTimersByTimeAsync(20);

  test.each<[string, string[], string[]]>([
    ["a slash at the start of the message", ["/"], ["/"]],
    ["a slash elsewhere does not ask", ["a /b"], []],
    ["a slash on another line does not ask", ["newLine", "/b"], []],
    ["words do not ask", ["word a@b"], []],
    ["@ at the start of a word", ["a @b"], ["a @b"]],
    ["arguments of a command", ["/cmd x"], ["/cmd x"]],
    ["a trigger of the provider", ["x $a"], ["x $a"]],
    ["Tab", ["ab", "tab"], ["ab"]],
  ])("is asked for by: %s", async (_, script, asked) => {
    const kit = withProvider({}, { triggerCharacters: ["$"] });
    kit.press(...script);
    await settle();
    expect(kit.asked()).toEqual(asked);
  });

  test("waits for files until nothing is typed", async () => {
    const { press, asked } = withProvider({});
    press("@a");
    await vi.advanceTimersByTimeAsync(10);
    press("b");
    await vi.advanceTimersByTimeAsync(19);
    expect(asked()).toEqual([]);
    await settle();
    expect(asked()).toEqual(["@ab"]);
  });

  test("asks a provider without a delay at once, and only for the last of several characters", async () => {
    const { press, asked } = withProvider({}, { searchDelayMs: 0 });
    press("@", "a", "b");
    await vi.advanceTimersByTimeAsync(0);
    expect(asked()).toEqual(["@ab"]);
  });

  test("that a provider answers at once is there when Tab asks", () => {
    const { editor, press } = withProvider(
      {},
      {
        getSuggestions: ([line = ""]) =>
          line === "/m" ? { items: [{ value: "/model", label: "" }], prefix: line } : null,
        getForceFileSuggestions: ([line = ""]) => ({ items: [{ value: `${line}/`, label: "" }], prefix: line }),
      },
    );
    press("/", "m", "tab", "tab");
    expect(editor.getText()).toBe("/model");
    editor.setText("");
    press("s", "r", "c", "tab");
    expect(editor.getText()).toBe("src/");
    press("undo");
    expect(editor.getText()).toBe("src");
  });

  test("that a provider fails to answer at once leaves the text as typed", () => {
    const getSuggestions = () => {
      throw new Error("broken");
    };
    const { editor, press } = withProvider({}, { getSuggestions });
    press("/", "m", "tab");
    expect([editor.getText(), editor.isShowingAutocomplete()]).toEqual(["/m", false]);
  });

  describe("that is incomplete", () => {
    function withAnswers(answers: string[][]) {
      let asked = 0;
      const kit = withProvider(
        {},
        {
          async getSuggestions() {
            const values = answers[Math.min(asked++, answers.length - 1)] ?? [];
            const items = values.map((value) => ({ value, label: value }));
            return { items, prefix: "@f", isIncomplete: asked < answers.length };
          },
        },
      );
      const shown = () =>
        kit.editor
          .render(40)
          .slice(3)
          .map((line) => line.trim());
      return { ...kit, shown, getAsked: () => asked };
    }
    const later = () => vi.advanceTimersByTimeAsync(50);

    test("is shown, asked for again, and then left alone", async () => {
      const { editor, press, shown, getAsked } = withAnswers([[], ["fb"], ["fa", "fb"]]);
      press("@f");
      await settle();
      expect(editor.isShowingAutocomplete()).toBe(false);
      await later();
      expect(shown()).toEqual(["→ fb"]);
      await later();
      expect(shown()).toEqual(["→ fa", "fb"]);
      await later();
      expect([getAsked(), vi.getTimerCount()]).toEqual([3, 0]);
    });

    test("keeps what the user selected", async () => {
      const { press, state, shown } = withAnswers([
        ["fb", "fc"],
        ["fa", "fb", "fc"],
        ["fa", "fb"],
      ]);
      press("@f");
      await settle();
      press("down");
      await later();
      expect(shown()).toEqual(["fa", "fb", "→ fc"]);
      await later();
      expect(shown()).toEqual(["→ fa", "fb"]);
      press("tab");
      expect(state()).toBe("fa|");
    });

    test("is not asked for again after Escape, or when something else was typed", async () => {
      const { press, getAsked } = withAnswers([["fa"], ["fa"], ["fa"]]);
      press("@f");
      await settle();
      press("escape");
      await later();
      expect([getAsked(), vi.getTimerCount()]).toEqual([1, 0]);
    });

    test("is not taken by Tab although there is only one yet", async () => {
      const { press, state, shown } = withAnswers([["fa"], ["fa", "fb"]]);
      press("@f", "tab");
      await settle();
      expect([state(), shown()]).toEqual(["@f|", ["→ fa"]]);
      await later();
      expect(shown()).toEqual(["→ fa", "fb"]);
    });
  });

  test("aborts a request when something else is typed, or nothing is wanted any more", async () => {
    const signals: AbortSignal[] = [];
    const { editor, press } = withProvider(
      {},
      {
        getSuggestions: (_lines, _line, _col, { signal }) => {
          signals.push(signal);
          return new Promise(() => {});
        },
      },
    );
    press("@a");
    await settle();
    press("b");
    await settle();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    editor.setText("");
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });

  test("an answer to a text that is gone is not shown", async () => {
    let answer: (() => void) | undefined;
    const { editor, press } = withProvider(
      {},
      {
        getSuggestions: () =>
          new Promise((resolve) => (answer = () => resolve({ items: [{ value: "x", label: "x" }], prefix: "/" }))),
      },
    );
    press("/");
    await settle();
    press("home");
    answer?.();
    await settle();
    expect(editor.isShowingAutocomplete()).toBe(false);
  });

  test("a provider that fails suggests nothing", async () => {
    const { editor, press } = withProvider({}, { getSuggestions: () => Promise.reject(new Error("broken")) });
    press("/");
    await settle();
    expect(press("a").getText()).toBe("/a");
    expect(editor.isShowingAutocomplete()).toBe(false);
  });

  test("Tab takes a single path at once, and shows several", async () => {
    const { editor, press, state, calls } = withProvider({ a: ["alpha"], b: ["beta", "bravo"] });
    press("a", "tab");
    await settle();
    expect([state(), calls[0]?.force]).toEqual(["alpha|", true]);
    press(" b", "tab");
    await settle();
    expect(editor.isShowingAutocomplete()).toBe(true);
    press("down", "tab");
    expect(state()).toBe("alpha bravo|");
    press("undo");
    expect(state()).toBe("alpha b|");
  });

  test("Enter takes a suggestion, and sends it if it is a command", async () => {
    const { press, state, submitted } = withProvider({ "/h": ["/help"], "@f": ["@file"] });
    press("@f");
    await settle();
    press("enter");
    expect([state(), submitted]).toEqual(["@file|", []]);
    press("enter", "/h");
    await settle();
    press("enter");
    expect(submitted).toEqual(["@file", "/help"]);
  });

  test("a key right after others acts on what was typed, not on older suggestions", async () => {
    const { press, state, submitted } = withProvider({ "/": ["/alpha"], "": ["readme", "run"], re: ["readme"] });
    press("/");
    await settle();
    press("h", "e", "l", "p", "enter");
    expect(submitted).toEqual(["/help"]);
    press("tab");
    await settle();
    press("r", "e", "tab");
    expect(state()).toBe("re|");
    await settle();
    expect(state()).toBe("readme|");
  });

  test("a provider that answers at once is asked before a key takes a suggestion", () => {
    const files = ["readme", "package"].map((value) => ({ value, label: value }));
    const { press, state } = withProvider(
      {},
      {
        getForceFileSuggestions: ([line = ""]) => ({
          items: files.filter(({ value }) => value.startsWith(line)),
          prefix: line,
        }),
      },
    );
    press("tab", "r", "e", "tab");
    expect(state()).toBe("readme|");
  });

  test("Escape closes the list, and what is typed then opens it again", async () => {
    const { editor, press } = withProvider({ "/h": ["/help"], "/he": ["/help"] });
    press("/h");
    await settle();
    expect(editor.render(20)).toHaveLength(4);
    press("escape");
    expect(editor.render(20)).toHaveLength(3);
    press("e");
    await settle();
    expect(editor.isShowingAutocomplete()).toBe(true);
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

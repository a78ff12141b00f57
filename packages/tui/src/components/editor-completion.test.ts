/** Tests the suggestions of the editor. */
import { beforeEach, describe, expect, test, vi } from "vitest";
import type { AutocompleteProvider } from "../completion/autocomplete.ts";
import { create } from "../../test/editor-kit.ts";

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

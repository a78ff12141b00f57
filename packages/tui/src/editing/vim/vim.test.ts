import fc from "fast-check";
import { expect, test } from "vitest";
import { initialVimState, pressVimKey, type VimState, type VimText } from "./vim.ts";

interface Editor {
  state: VimState;
  text: string;
  cursor: number;
  effects: string[];
}

/** `|` in the text is the cursor. */
function open(marked: string, atoms: VimText["atoms"] = []): { press: (...keys: string[]) => Editor; editor: Editor } {
  const cursor = marked.indexOf("|");
  const editor: Editor = {
    state: { ...initialVimState, mode: "normal" },
    text: marked.replace("|", ""),
    cursor,
    effects: [],
  };
  const press = (...keys: string[]) => {
    for (const key of keys) {
      const result = pressVimKey(editor.state, { text: editor.text, cursor: editor.cursor, atoms }, key);
      editor.state = result.state;
      if (result.text !== undefined) editor.text = result.text;
      if (result.cursor !== undefined) editor.cursor = result.cursor;
      if (result.effect) editor.effects.push(result.effect);
      if (!result.isUsed && editor.state.mode === "insert") insert(editor, key);
    }
    return editor;
  };
  return { press, editor };
}

/** Types as an editor does in insert mode. */
function insert(editor: Editor, key: string): void {
  const { text, cursor } = editor;
  if (key === "backspace") {
    const start = Math.max(0, cursor - 1);
    Object.assign(editor, { text: text.slice(0, start) + text.slice(cursor), cursor: start });
  } else if ([...key].length === 1) {
    Object.assign(editor, { text: text.slice(0, cursor) + key + text.slice(cursor), cursor: cursor + key.length });
  }
}

const names: Readonly<Record<string, string>> = { "␛": "escape", "␒": "ctrl+r", "⌫": "backspace" };
const toKeys = (keys: string): string[] => [...keys].map((key) => names[key] ?? key);
const show = ({ text, cursor }: Editor) => `${text.slice(0, cursor)}|${text.slice(cursor)}`;

test.each([
  ["one |two three", "h", "one| two three"],
  ["|one", "h", "|one"],
  ["one tw|o", "l", "one tw|o"],
  ["one |two\nab", "j", "one two\na|b"],
  ["abc\n|", "k", "|abc\n"],
  ["|one two", "w", "one |two"],
  ["|one, two", "w", "one|, two"],
  ["|one, two", "W", "one, |two"],
  ["|one\n\ntwo", "w", "one\n|\ntwo"],
  ["one two |three", "bb", "|one two three"],
  ["one, |two", "b", "one|, two"],
  ["|one two", "e", "on|e two"],
  ["on|e two", "e", "one tw|o"],
  ["|one two", "2e", "one tw|o"],
  ["  o|ne", "0", "|  one"],
  ["  on|e", "^", "  |one"],
  ["|one\ntwo", "$", "on|e\ntwo"],
  ["|one\ntwo", "2$", "one\ntw|o"],
  ["a\nb\n|c", "gg", "|a\nb\nc"],
  ["|a\nb\nc", "G", "a\nb\n|c"],
  ["|a\nb\nc", "2G", "a\n|b\nc"],
  ["|a-b-c", "f-", "a|-b-c"],
  ["|a-b-c", "2f-", "a-b|-c"],
  ["|a-b-c", "f-;", "a-b|-c"],
  ["|a-b-c", "f-;,", "a|-b-c"],
  ["|a-b-c", "t-", "|a-b-c"],
  ["|aa-b-c", "t-;", "aa-|b-c"],
  ["a-b-|c", "F-", "a-b|-c"],
  ["a-bb|c", "T-", "a-|bbc"],
  ["|abc", "fx", "|abc"],
  ["|a😀b", "ll", "a😀|b"],
])("%j, %s: the cursor moves to %j", (before, keys, after) => {
  expect(show(open(before).press(...toKeys(keys)))).toBe(after);
});

test.each([
  ["one |two three", "dw", "one |three"],
  ["one |two", "dw", "one| "],
  ["one |two\nthree", "dw", "one| \nthree"],
  ["|one two three", "d2w", "|three"],
  ["|one two three", "2dw", "|three"],
  ["|one two", "de", "| two"],
  ["one t|wo", "db", "one |wo"],
  ["one |two", "D", "one| "],
  ["one |two", "d0", "|two"],
  ["a\n|b\nc", "dd", "a\n|c"],
  ["a\n|b", "dd", "|a"],
  ["|a", "dd", "|"],
  ["|a\nb\nc", "2dd", "|c"],
  ["a\n|b\nc\nd", "dj", "a\n|d"],
  ["a\nb|\nc", "dgg", "|c"],
  ["a|b(c)d", "dt(", "a|(c)d"],
  ["a|b(c)d", "df)", "a|d"],
  ["|one two", "cwx␛", "|x two"],
  ["|one two", "cwxy␛", "x|y two"],
  ["o|ne", "ccx␛", "|x"],
  ["  a|b", "Sx␛", "|x"],
  ["o|ne two", "Cx␛", "o|x"],
  ["|abc", "x", "|bc"],
  ["ab|c", "x", "a|b"],
  ["|abc", "2x", "|c"],
  ["|abc", "9x", "|"],
  ["ab|c", "X", "a|c"],
  ["|abc", "sx␛", "|xbc"],
  ["a|bc", "rx", "a|xc"],
  ["|abc", "2rx", "x|xc"],
  ["|abc", "9rx", "|abc"],
  ["a|bc", "ix␛", "a|xbc"],
  ["a|bc", "ax␛", "ab|xc"],
  ["  a|b", "Ix␛", "  |xab"],
  ["a|b\nc", "Ax␛", "ab|x\nc"],
  ["a|b\nc", "ox␛", "ab\n|x\nc"],
  ["a|b\nc", "Ox␛", "|x\nab\nc"],
  ["a|bc", "ixy⌫z␛", "ax|zbc"],
  ["|one two", "yiwP", "on|eone two"],
  ["|one\ntwo", "yyp", "one\n|one\ntwo"],
  ["one\n|two", "YP", "one\n|two\ntwo"],
  ["|one\ntwo", "yyjp", "one\ntwo\n|one"],
  ["|ab", "ylp", "a|ab"],
  ["|ab", "yl3p", "aaa|ab"],
  ["|ab", "xp", "b|a"],
  ["a\n|b", "ddP", "|b\na"],
])("%j, %s: the text becomes %j", (before, keys, after) => {
  expect(show(open(before).press(...toKeys(keys)))).toBe(after);
});

test.each([
  ["one t|wo three", "diw", "one | three"],
  ["one t|wo three", "daw", "one |three"],
  ["one t|wo", "daw", "on|e"],
  ["one| two", "diw", "one|two"],
  ['say "h|i you" now', 'di"', 'say "|" now'],
  ['say "h|i you" now', 'da"', "say | now"],
  ['|say "hi"', 'ci"x␛', 'say "|x"'],
  ['"a\\"|b"', 'di"', '"|"'],
  ["f(a, (b|), c)", "di(", "f(a, (|), c)"],
  ["f(a, (b), |c)", "di(", "f(|)"],
  ["f(a, (b), |c)", "dab", "|f"],
  ["{\n a|\n}", "di{", "{|}"],
  ["[a|]", "ci]x␛", "[|x]"],
  ["<a|>", "di<", "<|>"],
  ["no |brackets", "di(", "no |brackets"],
  ["|", "diw", "|"],
])("%j, %s: the text object is taken, %j", (before, keys, after) => {
  expect(show(open(before).press(...toKeys(keys)))).toBe(after);
});

test.each([
  ["|one two", "vey", "|one two"],
  ["|one two", "ved", "| two"],
  ["one |two", "vbd", "|wo"],
  ["|one two", "vlcx␛", "|xe two"],
  ["|a\nb\nc", "Vjd", "|c"],
  ["a\n|b\nc", "Vcx␛", "a\n|x\nc"],
  ["one t|wo three", "viwd", "one | three"],
  ["|one two", "yiwwviwp", "one on|e"],
  ["|one two", "vlod", "|e two"],
  ["|one two", "vl␛x", "o|e two"],
  ["|one two", "vvx", "|ne two"],
  ["|a\nb", "vVd", "|b"],
])("%j, %s: the selection is used, %j", (before, keys, after) => {
  expect(show(open(before).press(...toKeys(keys)))).toBe(after);
});

test.each([
  ["|one two three", "dw.", "|three"],
  ["|one two", "cwx␛w.", "x |x"],
  ["|a", "ob␛.", "a\nb\n|b"],
  ["|abc", "x..", "|"],
  ["|abc abc", "iX␛w.", "Xabc |Xabc"],
  ["|one two three", "dwjw.", "two| "],
])("%j, %s: the last change is made again, %j", (before, keys, after) => {
  expect(show(open(before).press(...toKeys(keys)))).toBe(after);
});

test("undo, redo and the prompts before are done by the editor", () => {
  expect(open("|a").press("u", "ctrl+r", "k", "j").effects).toEqual(["undo", "redo", "older", "newer"]);
  expect(open("|a").press("d", "k").effects).toEqual([]);
});

test("Escape drops a command, ends a selection and leaves insert mode, and is not used otherwise", () => {
  const { press, editor } = open("ab|c");
  press("d", "escape", "x");
  expect(show(editor)).toBe("a|b");
  expect(press("v", "escape").state.mode).toBe("normal");
  expect(pressVimKey(editor.state, { text: "ab", cursor: 1, atoms: [] }, "escape").isUsed).toBe(false);
  expect(press("i").state.mode).toBe("insert");
  expect(press("escape").cursor).toBe(0);
});

test("other keys keep their meaning in every mode", () => {
  for (const mode of ["insert", "normal", "visual", "visual line"] as const) {
    const result = pressVimKey({ ...initialVimState, mode }, { text: "a", cursor: 0, atoms: [] }, "other");
    expect(result).toMatchObject({ isUsed: false, state: { mode } });
  }
});

test("a marker of a paste is one character, and is never cut in two", () => {
  const text = "a [paste #1] b";
  const atoms = [{ start: 2, end: 12 }];
  const run = (keys: string) => show(open(`|${text}`, atoms).press(...toKeys(keys)));
  expect(run("wl")).toBe("a [paste #1]| b");
  expect(run("wx")).toBe("a | b");
  expect(run("wdiw")).toBe("a | b");
  expect(run("dt#")).toBe("| b");
});

const keys = fc.constantFrom(
  ..."hjklwbeWBE0^$GgfFtT;,dcyxXsSDCYpPu.iIaAoOvVr123 ()\"'abc-",
  "escape",
  "escape",
  "ctrl+r",
  "backspace",
  "other",
  "😀",
);
const texts = fc.string({
  unit: fc.constantFrom("a", "b", " ", "\n", "(", ")", '"', "😀", "é", "-", "\\"),
  maxLength: 40,
});

test("no keys break the state: the cursor stays in the text, between characters, and on one in normal mode", () => {
  fc.assert(
    fc.property(texts, fc.array(keys, { maxLength: 60 }), (text, pressed) => {
      const { press, editor } = open(`|${text.replaceAll("|", "")}`);
      for (const key of pressed) {
        press(key);
        const { cursor, state } = editor;
        expect(cursor).toBeGreaterThanOrEqual(0);
        expect(cursor).toBeLessThanOrEqual(editor.text.length);
        const [before, after] = [editor.text.charCodeAt(cursor - 1), editor.text.charCodeAt(cursor)];
        if (key !== "backspace")
          expect(before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff).toBe(false);
        const isOnLineEnd = cursor === editor.text.length || editor.text[cursor] === "\n";
        const isEmptyLine = isOnLineEnd && (cursor === 0 || editor.text[cursor - 1] === "\n");
        if (state.mode === "normal" && key !== "other" && key !== "backspace")
          expect(isOnLineEnd && !isEmptyLine).toBe(false);
        expect(editor.text.length).toBeLessThan(700_000);
      }
    }),
    { numRuns: 500 },
  );
});

test("a motion changes no text, and an operator takes exactly what it puts into the register", () => {
  const motion = fc.constantFrom("w", "b", "e", "W", "0", "^", "$", "h", "l", "fa", "Tb", "iw", "aw", 'i"', "a(");
  fc.assert(
    fc.property(texts, fc.nat(40), motion, (text, at, keysOfMotion) => {
      const place = Math.min(at, text.length);
      const marked = `${text.slice(0, place)}|${text.slice(place)}`;
      if (/[\ud800-\udbff]$/.test(text.slice(0, place))) return;
      if (/^[a-z0^$WT]/.test(keysOfMotion) && !/^[ia]/.test(keysOfMotion))
        expect(open(marked).press(...toKeys(keysOfMotion)).text).toBe(text);
      const deleted = open(marked).press(...toKeys(`d${keysOfMotion}`));
      const { register } = deleted.state;
      expect(deleted.text.length + register.text.length).toBe(text.length);
      const copied = open(marked).press(...toKeys(`y${keysOfMotion}`));
      expect(copied.text).toBe(text);
      expect(copied.state.register.text).toBe(register.text);
    }),
    { numRuns: 500 },
  );
});

import { describe, expect, test } from "vitest";
import { visibleWidth } from "../text/cells.ts";
import { Input, type InputOptions } from "./input.ts";

function create(value = "", options: InputOptions = {}) {
  const input = new Input(options);
  input.setValue(value);
  return input;
}

const show = (input: Input, width: number) =>
  input.render(width).map((line) => line.replace("\x1b[7m", "[").replace("\x1b[27m", "]"));

describe("the input draws", () => {
  test.each<[string, string[], string]>([
    ["hello", [], "> [h]ello     "],
    ["hello", ["\x05"], "> hello[ ]    "],
    ["hello world foo bar", ["\x05"], "> d foo bar[ ]"],
    ["hello world foo bar", ["\x05", "\x1b[D"], "> ld foo ba[r]"],
    ["hello world foo bar", ["\x05", "\x1bb", "\x1bb"], "> orld [f]oo b"],
    ["你好世界你好世界", ["\x05"], "> 你好世界[ ] "],
    ["a\x1b[31mb", [], "> [a]␛[31mb   "],
  ])("%j after %j", (value, keys, line) => {
    const input = create(value);
    for (const key of keys) input.handleInput(key);
    expect(show(input, 12)).toEqual([line]);
  });

  test("a placeholder while it is empty", () => {
    const input = create("", { prompt: "? ", placeholder: "type", placeholderStyle: (text) => `<${text}>` });
    expect(show(input, 12)).toEqual(["? [<t>]<ype>  "]);
    input.handleInput("a");
    expect(show(input, 12)).toEqual(["? a[ ]        "]);
  });

  test("lines as wide as the screen, and the same array while nothing changes", () => {
    const input = create("hello 你好 world 👨‍👩‍👧 and more");
    for (let width = 1; width < 30; width++) {
      for (let index = 0; index < 12; index++) {
        input.handleInput("\x1b[C");
        expect(visibleWidth(input.render(width)[0] ?? "")).toBe(width);
        expect(input.render(width)).toBe(input.render(width));
      }
      input.handleInput("\x01");
    }
  });
});

describe("the input edits", () => {
  test.each<[string, string[], string]>([
    ["types where the cursor is", ["x", "\x1b[D", "y"], "yx"],
    ["joins the lines of a paste", ["\x1b[200~a\nb\tc\x1b[3", "1md\x1b[201~e"], "ab    c[31mde"],
    ["kills and yanks", ["foo bar", "\x17", "\x17", "x", "\x19"], "xfoo bar"],
    ["undoes", ["a", "b", " ", "c", "\x1f"], "ab"],
    ["takes keys of Kitty's protocol", ["\x1b[97u", "\x1b[97:65;2u"], "aA"],
    ["does not take control keys", ["\x00", "\x1b[A", "\t"], ""],
  ])("%s", (_, keys, value) => {
    const input = create();
    for (const key of keys) input.handleInput(key);
    expect(input.getValue()).toBe(value);
  });

  test("Enter sends the value, Escape leaves", () => {
    const input = create("hi");
    const events: string[] = [];
    input.onSubmit = (value) => events.push(value);
    input.onEscape = () => events.push("escape");
    for (const key of ["\r", "\n", "\x1b"]) input.handleInput(key);
    expect(events).toEqual(["hi", "hi", "escape"]);
  });

  test("a press of the mouse puts the cursor on the character", () => {
    const input = create("hello");
    input.render(12);
    const event = {
      button: "left",
      x: 4,
      y: 0,
      screenX: 4,
      screenY: 0,
      width: 12,
      height: 1,
      shift: false,
      alt: false,
      ctrl: false,
    } as const;
    expect(input.handleMouse({ ...event, type: "press" })).toEqual({ handled: true, focus: true });
    expect(show(input, 12)).toEqual(["> he[l]lo     "]);
    expect(input.handleMouse({ ...event, type: "click" })).toBeUndefined();
  });
});

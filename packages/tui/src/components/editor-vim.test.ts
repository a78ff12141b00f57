import { expect, test } from "vitest";
import { create } from "../../test/editor-kit.ts";

const escape = "\x1b";
const ctrlR = "\x12";

function open(text: string) {
  const { editor } = create();
  editor.setVimKeys(true);
  editor.insertTextAtCursor(text);
  const send = (...inputs: string[]) => {
    for (const input of inputs) editor.handleInput(input);
    return editor.getText();
  };
  return { editor, send };
}

test("keys are typed in insert mode and are commands in normal mode, also several at once", () => {
  const { editor, send } = open("one two");
  expect(editor.vimMode).toBe("insert");
  expect(send("!", escape)).toBe("one two!");
  expect(editor.vimMode).toBe("normal");
  expect(send("b", "dw")).toBe("one !");
  expect(send("0", "cwthree", escape)).toBe("three !");
  expect(send("A?", escape, "x")).toBe("three !");
});

test("undo and redo are those of the editor, and the cursor stays on a character", () => {
  const { editor, send } = open("one two");
  send(escape, "0", "dw", "dw");
  expect(send("u")).toBe("two");
  expect(send("u")).toBe("one two");
  expect(send(ctrlR)).toBe("two");
  expect(editor.getCursor().col).toBeLessThan(3);
});

test("a large paste stays one character with its text", () => {
  const { editor, send } = open("");
  const pasted = Array.from({ length: 30 }, (_unused, index) => `line ${index}`).join("\n");
  send(`\x1b[200~${pasted}\x1b[201~`, escape);
  expect(editor.getText()).toMatch(/^\[paste #1/);
  send("y", "i", "w", "p");
  expect(editor.getExpandedText()).toBe(pasted + pasted);
  expect(send("x")).toMatch(/^\[paste #1[^[]*$/);
});

test("Enter sends in every mode, and the next prompt begins in insert mode", () => {
  const { editor, send } = open("go");
  const sent: string[] = [];
  editor.onSubmit = (text) => void sent.push(text);
  send(escape, "\r");
  expect([sent, editor.vimMode, editor.getText()]).toEqual([["go"], "insert", ""]);
});

test("above the first line are the earlier prompts", () => {
  const { editor, send } = open("");
  editor.addToHistory("before");
  expect(send(escape, "k")).toBe("before");
  expect(send("j")).toBe("");
});

test("the keys of the program that vim uses are those that have something to do", () => {
  const { editor, send } = open("");
  expect([editor.takesKey(escape), editor.takesKey(ctrlR)]).toEqual([false, false]);
  send("a");
  expect([editor.takesKey(escape), editor.takesKey(ctrlR)]).toEqual([true, false]);
  send(escape);
  expect([editor.takesKey(escape), editor.takesKey(ctrlR)]).toEqual([false, true]);
  send("d");
  expect(editor.takesKey(escape)).toBe(true);
});

test("turned off, nothing of it remains", () => {
  const { editor, send } = open("one");
  send(escape, "v");
  editor.setVimKeys(false);
  expect([editor.vimMode, editor.takesKey(escape), editor.takesKey(ctrlR)]).toEqual([undefined, false, false]);
  expect(send("dw")).toContain("dw");
});

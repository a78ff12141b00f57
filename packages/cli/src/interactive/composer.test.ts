import { expect, test } from "vitest";
import { Composer, type ComposerOptions } from "./composer.ts";

/** An editor that only holds text, and a session that takes nothing. */
function createComposer() {
  let shown = "";
  const history: string[] = [];
  const editor = {
    getText: () => shown,
    setText: (text: string) => (shown = text),
    addToHistory: (text: string) => history.push(text),
  };
  const client = { execute: () => Promise.reject(new Error("There is no connection.")) };
  const parts = { editor, transcript: { keepRemarks: () => undefined }, getClient: () => client };
  const composer = new Composer({ ...parts, runCommand: async () => false } as unknown as ComposerOptions);
  return { composer, editor };
}

test.for(["submit", "followUp"] as const)("a text that %s could not send comes back to the editor", async (name) => {
  const { composer, editor } = createComposer();
  await expect(composer[name]("Go on.")).rejects.toThrow("There is no connection.");
  expect(editor.getText()).toBe("Go on.");
});

test("it does not replace what was typed meanwhile", async () => {
  const { composer, editor } = createComposer();
  const sending = composer.followUp("Go on.");
  editor.setText("Something else");
  await expect(sending).rejects.toThrow("There is no connection.");
  expect(editor.getText()).toBe("Something else");
});

import { expect, test } from "vitest";
import { Composer, type ComposerOptions } from "./composer.ts";
import { Outbox } from "./outbox.ts";
import type { SessionClient } from "./session-client.ts";
import { SubmissionGate } from "./submission-gate.ts";

const image = { type: "image", data: "AAAA", mimeType: "image/png" };

/** An editor that only holds text, and a session that takes nothing. */
function createComposer(readImageFile: (path: string) => Promise<unknown> = async () => image) {
  let shown = "";
  const editor = {
    getText: () => shown,
    setText: (text: string) => (shown = text),
    insertTextAtCursor: (text: string) => (shown += text),
    paste: (text: string) => (shown += text),
  };
  const commands: unknown[] = [];
  const execute = async (command: unknown) => {
    commands.push(command);
    throw new Error("There is no connection.");
  };
  const composer = new Composer({
    editor,
    transcript: { keepRemarks: () => undefined },
    prompts: { add: () => undefined },
    program: { readImageFile },
    outbox: new Outbox(
      () => ({ execute }) as unknown as SessionClient,
      () => undefined,
    ),
    gate: new SubmissionGate(),
    getCwd: () => "/",
    runCommand: async () => false,
    requestRender: () => undefined,
    onHeld: () => undefined,
    addInstruction: async () => false,
  } as unknown as ComposerOptions);
  return { composer, editor, commands };
}

test.for(["submit", "followUp"] as const)("a text that %s could not send comes back to the editor", async (name) => {
  const { composer, editor } = createComposer();
  await expect(composer[name]("Go on.")).rejects.toThrow("There is no connection.");
  expect(editor.getText()).toBe("Go on.");
});

test("its image comes back with it", async () => {
  const { composer, editor, commands } = createComposer();
  await composer.attachDragged([{ imagePath: "/picture.png", pasted: "" }]);
  for (const word of ["look", "again"]) {
    const text = `${editor.getText()}${word}`;
    editor.setText("");
    await expect(composer.submit(text)).rejects.toThrow("There is no connection.");
  }
  const images = [image];
  expect(commands).toEqual([
    { type: "steer", message: "[image 1] look", images },
    { type: "steer", message: "[image 1] lookagain", images },
  ]);
});

test("it does not replace what was typed meanwhile", async () => {
  const { composer, editor } = createComposer();
  const sending = composer.followUp("Go on.");
  editor.setText("Something else");
  await expect(sending).rejects.toThrow("There is no connection.");
  expect(editor.getText()).toBe("Something else");
});

test("the message that the program begins with does not replace what was typed meanwhile", async () => {
  const { composer, editor } = createComposer();
  editor.setText("Something else");
  await expect(composer.submit("Go on.")).rejects.toThrow("There is no connection.");
  expect(editor.getText()).toBe("Something else");
});

test("a path that was dragged is not lost when the image cannot be read, nor sent twice", async () => {
  const { composer, editor, commands } = createComposer(async () => {
    throw new Error("Cannot load.");
  });
  await expect(composer.attachDragged([{ imagePath: "/picture.png", pasted: "/picture.png" }])).rejects.toThrow(
    "Cannot load.",
  );
  expect(editor.getText()).toBe("/picture.png");
  await expect(composer.submit("Go on.")).rejects.toThrow("There is no connection.");
  expect(commands).toEqual([{ type: "steer", message: "Go on." }]);
});

test("of several files that were dragged each is attached or pasted, in their order", async () => {
  const { composer, editor } = createComposer(async (path) => {
    if (path === "/broken.png") throw new Error("Cannot load.");
    return path === "/fake.png" ? undefined : image;
  });
  const names = ["/1.png", "/fake.png", "/2.png", "/broken.png", "/3.png"];
  const files = names.map((imagePath) => ({ imagePath, pasted: `${imagePath} ` }));
  const attaching = composer.attachDragged([...files, { imagePath: undefined, pasted: "/notes.txt" }]);
  await expect(attaching).rejects.toThrow("Cannot load.");
  await expect.poll(editor.getText).toBe("[image 1] /fake.png [image 2] /broken.png [image 3] /notes.txt");
});

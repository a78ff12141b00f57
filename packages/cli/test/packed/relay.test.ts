/** The packed program at the end of a slow line: all that it writes and all that the terminal sends is late. */
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createModelWorkspace, textReply } from "../kit.ts";
import { answerText, createAnswers } from "./answers.ts";
import { openPty } from "./pty.ts";

const delayMs = 300;
const env = { COLORTERM: "truecolor", SSH_CONNECTION: "192.0.2.1 2222 192.0.2.2 22" };

/** Colors that the terminal reported are drawn with 24 bits. */
const usesAnswers = "\x1b[38;2;";

test("300 ms each way: answers are applied and never shown, and one can type and leave", async () => {
  const workspace = await createModelWorkspace([textReply("Hi there.")]);
  const pty = await openPty(workspace, { delayMs, env, onOutput: createAnswers() });
  await pty.sees("small");
  pty.type("Hel");
  pty.type("lo\r");
  await pty.sees("Hi there.");
  await expect.poll(pty.output).toContain(usesAnswers);
  expect(await pty.everything()).toContain("Hello");
  pty.type("\x04");
  expect(await pty.ended()).toEqual({ code: 0, isCanonical: true, echoes: true });
  expect(await pty.everything()).not.toMatch(answerText);
});

test("300 ms each way: the first frame is drawn before the answers come", async () => {
  // On a busy machine the program may need as long as the answers: one of several starts shows it.
  const getSentBeforeAnswers = async (): Promise<string> => {
    const workspace = await createModelWorkspace([]);
    let sent: string | undefined;
    const onOutput = createAnswers((answers, type) => {
      setTimeout(() => (sent ??= pty.sent()), delayMs);
      type(answers);
    });
    const pty = await openPty(workspace, { delayMs, env, onOutput });
    await expect.poll(() => sent).toBeDefined();
    return sent ?? "";
  };
  let sent = await getSentBeforeAnswers();
  for (let tries = 2; tries > 0 && !sent.includes("small"); tries--) sent = await getSentBeforeAnswers();
  expect(sent).toContain("small");
});

test("answers that come in pieces after the first frame are not shown as text", async () => {
  const workspace = await createModelWorkspace([]);
  let release = () => {};
  const onOutput = createAnswers((answers, type) => {
    const pieces = answers.match(/[\s\S]{1,37}/g) ?? [];
    release = () => pieces.forEach((piece, index) => setTimeout(() => type(piece), index * 25));
  });
  const pty = await openPty(workspace, { env, onOutput });
  await pty.sees("small");
  expect(pty.output()).not.toContain(usesAnswers);
  release();
  pty.type("typed");
  await pty.sees("typed");
  await expect.poll(pty.output).toContain(usesAnswers);
  expect(await pty.everything()).not.toMatch(answerText);
});

test.each([
  ["Ctrl-Z", "\x1a"],
  ["Ctrl-G", "\x07"],
])("answers that are under way when %s is pressed do not reach the shell or the editor", async (_name, key) => {
  const workspace = await createModelWorkspace([]);
  const editor = join(workspace.directory, "editor.sh");
  await writeFile(editor, '#!/bin/sh\necho "<stopped>"; read -r line\n');
  await chmod(editor, 0o755);
  let isAnswered = false;
  const onOutput = createAnswers((answers, type) => {
    type(answers);
    setTimeout(() => (isAnswered = true), delayMs);
  });
  const pty = await openPty(workspace, {
    delayMs,
    env: { ...env, VISUAL: editor },
    onOutput,
    afterwards: 'echo "<stopped>"; read -r line; fg',
  });
  // The terminal has not even seen the questions.
  await expect.poll(pty.sent).toContain("small");
  pty.type(key);
  await pty.sees("<stopped>");
  await expect.poll(() => isAnswered).toBe(true);
  pty.type("\r");
  pty.type("typed again");
  await pty.sees("typed again");
  expect(await pty.everything()).not.toMatch(answerText);
});

test("answers that are under way when one leaves do not reach the shell", async () => {
  const workspace = await createModelWorkspace([]);
  const pty = await openPty(workspace, { delayMs, env, onOutput: createAnswers(), afterwards: "read -r line" });
  await expect.poll(pty.sent).toContain("small");
  pty.type("\x04");
  await expect.poll(pty.output).toContain("\x1b[?2031l");
  pty.type("\r");
  await pty.ended();
  expect(await pty.everything()).not.toMatch(answerText);
});

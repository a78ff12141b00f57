import { expect, test } from "vitest";
import { OpenQuestions } from "./open-questions.ts";

const never = new Promise<void>(() => {});

test("a command is waited for until it is done or asks something, and not while something is asked", async () => {
  const questions = new OpenQuestions();
  await questions.untilDoneOrAsked(Promise.resolve());
  const waiting = questions.untilDoneOrAsked(never);
  questions.open("a");
  await waiting;
  questions.open("b");
  questions.close("a");
  await questions.untilDoneOrAsked(never);
  questions.close("b");
  let isOver = false;
  const later = questions.untilDoneOrAsked(never).then(() => (isOver = true));
  await Promise.resolve();
  expect(isOver).toBe(false);
  questions.open("c");
  await later;
});

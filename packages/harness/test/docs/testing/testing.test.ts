/** docs/testing.md is true: its examples are compiled and run here. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type AI, complete, completeSimple, type Model, stream, streamSimple } from "@tau/ai";
import { scriptedModel, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { evaluateAnswers } from "./evaluation.example.ts";
import "./offline.example.ts";

const page = readFileSync(join(import.meta.dirname, "../../../../../docs/testing.md"), "utf8");

test("every TypeScript block of the page is one of the examples here, and each of them is on the page once", () => {
  const blocks = [...page.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code);
  const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".example.ts"));
  const examples = files.map((name) => readFileSync(join(import.meta.dirname, name), "utf8"));
  expect(blocks.toSorted()).toEqual(examples.toSorted());
});

const toAI = (model: Model): AI => ({
  model,
  stream: (context, options) => stream(model, context, options),
  complete: (context, options) => complete(model, context, options),
  streamSimple: (context, options) => streamSimple(model, context, options),
  completeSimple: (context, options) => completeSimple(model, context, options),
});

test("the evaluation of the page runs offline, and prints the table that the page shows", async () => {
  const model = scriptedModel([[text("It is Paris.")], [text("It is 43, if I have added that up as I should.")]]);
  onTestFinished(() => model.dispose());
  const printed: string[] = [];
  const { means, failed } = await evaluateAnswers({ ai: toAI(model), tools: [] }, (table) => printed.push(table));
  expect([means["correct"], failed]).toEqual([0.5, 0]);
  const shown = /```text\n([\s\S]*?)\n```/.exec(page)![1]!;
  const withoutTimes = (table: string) => table.replaceAll(/ +\d+$/gm, "");
  expect(withoutTimes(printed.join("\n")).replaceAll(/ +ms$/gm, "")).toBe(
    withoutTimes(shown).replaceAll(/ +ms$/gm, ""),
  );
});

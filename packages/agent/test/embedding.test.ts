import { readFileSync } from "node:fs";
import { join } from "node:path";
import { call, scriptedModel, text } from "@tau/ai/testing";
import { expect, test } from "vitest";
import type { AgentMessage } from "../src/types.ts";
import { ask } from "./embedding.example.ts";

const root = join(import.meta.dirname, "..", "..", "..");

test("docs/embedding.md shows the compiled example, in under 40 lines", () => {
  const document = readFileSync(join(root, "docs", "embedding.md"), "utf8");
  const example = readFileSync(join(import.meta.dirname, "embedding.example.ts"), "utf8");
  expect(/```ts\n([\s\S]*?)```/.exec(document)?.[1]).toBe(example);
  expect(example.trimEnd().split("\n").length).toBeLessThan(40);
});

test("the example calls its tool, is steered and answers", async () => {
  const model = scriptedModel([[call("weather", { place: "Rome" })], [text("70 °F in Rome.")]]);
  let printed = "";
  await ask(model, "What is the weather in Rome?", (piece) => (printed += piece));
  expect(printed).toBe("[weather]70 °F in Rome.");
  const sent = model.asked[1]!.context.messages.map(({ role, content }) => `${role}: ${JSON.stringify(content)}`);
  expect(sent[2]).toContain("21 °C in Rome");
  expect(sent[3]).toContain("In Fahrenheit, please.");
  model.dispose();
});

declare module "@tau/agent" {
  interface CustomAgentMessages {
    notification: { role: "notification"; text: string; timestamp: number };
  }
}

test("custom messages of an application are kept in the transcript and not sent to the model", async () => {
  const { Agent } = await import("@tau/agent");
  const model = scriptedModel([[text("ok")]]);
  const note: AgentMessage = { role: "notification", text: "saved", timestamp: 1 };
  const agent = new Agent({ initialState: { model, messages: [note] } });
  await agent.prompt("go");
  expect(agent.state.messages[0]).toBe(note);
  expect(model.asked[0]!.context.messages.map(({ role }) => role)).toEqual(["user"]);
  model.dispose();
});

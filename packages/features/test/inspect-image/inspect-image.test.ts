/** The tool `inspect_image` in real sessions. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { call, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { allFeatures, inspectImage } from "../../src/index.ts";
import { createTestSession, type TestSessionParams } from "../kit.ts";

/** Two pixels, red and green. */
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAAD0lEQVR4nGP4z8DA8J8BAAf/Af8Bf4mnAAAAAElFTkSuQmCC",
  "base64",
);

async function run(args: object, params: TestSessionParams = {}, answers: ReturnType<typeof text>[] = []) {
  const turns = [[call("inspect_image", args as never)], ...answers.map((answer) => [answer]), [text("Done.")]];
  const opened = await createTestSession(turns, {
    features: [inspectImage()],
    settings: { tools: { enabled: ["inspect_image"] } },
    ...params,
  });
  onTestFinished(() => opened.dispose());
  await writeFile(join(opened.cwd, "a.png"), png);
  await writeFile(join(opened.cwd, "broken.png"), png.subarray(0, 12));
  await opened.prompt("go");
  const result = opened.session.messages.find((message) => message.role === "toolResult")!;
  return {
    opened,
    isError: result.isError,
    output: result.content.flatMap((block) => (block.type === "text" ? block.text : [])).join("\n"),
  };
}

test("an image is described", async () => {
  const { isError, output } = await run({ path: "a.png" });
  expect(isError).toBe(false);
  expect(output).toMatch(/^image\/png, 2×1 pixels, \d+ bytes\ncolours: #ff0000 50%, #00ff00 50%$/);
});

test("a broken image is an error that names it", async () => {
  const { isError, output } = await run({ path: "broken.png" });
  expect([isError, output]).toEqual([true, expect.stringMatching(/broken\.png is a damaged image/)]);
});

test("a file that may not be read is not opened", async () => {
  const asked: string[] = [];
  const { isError } = await run(
    { path: "/etc/shadow" },
    { ask: async ({ toolName }) => (asked.push(toolName), { decision: "deny" }) },
  );
  expect(isError).toBe(true);
});

test("a question goes to the model of the session with the image", async () => {
  const { opened, output } = await run({ path: "a.png", question: "What is it?" }, {}, [text("Two pixels.")]);
  expect(output).toMatch(/\n\nTwo pixels\.$/);
  const [, question] = opened.model.asked;
  expect(question!.context.messages).toMatchObject([
    {
      role: "user",
      content: [
        { type: "text", text: "What is it?" },
        { type: "image", mimeType: "image/png" },
      ],
    },
  ]);
});

test("it is off unless something names it", async () => {
  const opened = await createTestSession([[text("Hi.")]], { features: allFeatures });
  onTestFinished(() => opened.dispose());
  await opened.prompt("hi");
  expect(opened.model.asked[0]!.context.tools!.map(({ name }) => name)).not.toContain("inspect_image");
});

/** Resources of servers in prompts: `@SERVER:URI`. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "@tau/ai/testing";
import { expect, test } from "vitest";
import { Answering, makePlace, open, type Place } from "./session-kit.ts";

const turns = [[text("Ok.")], [text("Ok.")]];

const getBlocks = ({ model }: Awaited<ReturnType<typeof open>>) =>
  (model.asked.at(-1)!.context.messages.at(-1)!.content as { type: string; text?: string }[]).map(
    (block) => block.text ?? block.type,
  );

const complete = async ({ session }: Awaited<ReturnType<typeof open>>, path: string) =>
  (await session.mentions.complete({ path, isQuoted: false })).items;

const countStarts = async (place: Place) => (await place.readPids()).length;

test("a mentioned resource is sent with the prompt, by a server that is started for it", async () => {
  const place = await makePlace();
  const opened = await open(turns, place);
  await opened.prompt("Explain @docs:mem://a.");
  expect(getBlocks(opened)).toEqual([
    "Explain @docs:mem://a.",
    '<resource name="@docs:mem://a" source="external">\ncontent of mem://a\n</resource>',
  ]);
  expect(await countStarts(place)).toBe(1);
});

test("suggestions start no server: they come from one that runs, or from what was listed before", async () => {
  const place = await makePlace();
  const first = await open(turns, place);
  expect(await complete(first, "do")).toEqual([{ value: "docs:" }]);
  expect(first.session.extensions).toBeUndefined();
  expect(await complete(first, "docs:")).toEqual([]);
  expect(await countStarts(place)).toBe(0);
  await first.prompt("@docs:mem://b");
  const listed = [{ value: "docs:mem://a", description: "a" }];
  expect(await complete(first, "docs:")).toEqual(listed);
  expect(await complete(first, "docs:other")).toEqual([]);
  await first.session.dispose();
  const later = await open(turns, place);
  expect(await complete(later, "docs:mem")).toEqual(listed);
  expect(await countStarts(place)).toBe(1);
});

test.each([
  ["a server that is turned off", { enabled: false }],
  ["a server of another name", { args: ["unused"] }],
])("%s has no mentions", async (_name, entry) => {
  const place = await makePlace(entry);
  const opened = await open(turns, place);
  await opened.prompt(`@${"args" in entry ? "other" : "docs"}:mem://a`);
  expect(getBlocks(opened)).toHaveLength(1);
  expect(await countStarts(place)).toBe(0);
});

test("a server that may not be started is reported, and the prompt is sent", async () => {
  const place = await makePlace({ trusted: false });
  const opened = await open(turns, place);
  const surface = new Answering(false);
  await opened.session.attachSurface(surface);
  await opened.prompt("@docs:mem://a");
  expect(surface.asked).toHaveLength(1);
  expect(getBlocks(opened)).toEqual(["@docs:mem://a"]);
  const notice = expect.stringContaining("You did not allow the MCP server docs.") as unknown;
  expect(opened.events).toContainEqual(expect.objectContaining({ type: "notice", message: notice }));
});

test("addresses with control characters are not suggested, and none is kept", async () => {
  const place = await makePlace({}, "wrong-resources");
  const opened = await open(turns, place);
  await opened.prompt("@docs:mem://a");
  expect(await complete(opened, "docs:")).toEqual([{ value: "docs:mem://fine", description: "fine" }]);
  const directory = join(place.agentDir, "cache", "mcp");
  const file = (await readdir(directory)).find((name) => name.endsWith("-resources.json"))!;
  expect(JSON.parse(await readFile(join(directory, file), "utf8"))).toEqual({
    resources: [{ uri: "mem://fine", title: "fine" }],
  });
});

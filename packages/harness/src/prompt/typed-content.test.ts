import type { ImageContent } from "@tau/ai";
import { getTypedContent } from "@tau/protocol";
import { expect, test } from "vitest";
import { expandPrompt, type ExpandPort, type Mentioned } from "./expand.ts";

const toImage = (data: string): ImageContent => ({ type: "image", data, mimeType: "image/png" });

test("what was mentioned is left out, and what was typed and attached is not", async () => {
  const files: Record<string, Mentioned> = {
    "a.ts": { kind: "file", path: "/a.ts", text: "one </file> two" },
    src: { kind: "directory", path: "/src", text: "x.ts" },
    "issue://a/b/1": { kind: "content", path: "@issue://a/b/1", text: "an issue", images: [] },
    "b.png": { kind: "image", path: '/b "1".png', image: toImage("mentioned"), note: "800 × 600" },
  };
  const port: ExpandPort = {
    templates: [],
    skills: [],
    readSkill: async () => ({ kind: "failed", reason: "" }),
    readMention: async (path) => files[path] ?? { kind: "missing" },
  };
  const text = "Look at @a.ts, @src, @issue://a/b/1 and @b.png\n\nand <file> tags";
  const expansion = await expandPrompt(text, port);
  if (expansion.kind !== "message") throw new Error(expansion.reason);
  expect(expansion.content).toHaveLength(6);
  const attached = toImage("attached");
  expect(getTypedContent([...expansion.content, attached])).toEqual({ text, images: [attached] });
});

test("all texts of a program count, and a text that looks like a file if it is the first one", () => {
  const file = '<file name="/a">\ntext\n</file>';
  expect(getTypedContent([{ type: "text", text: file }, toImage("1")])).toEqual({ text: file, images: [toImage("1")] });
  const texts = ["one", "two"].map((text) => ({ type: "text", text }) as const);
  expect(getTypedContent(texts)).toEqual({ text: "one\ntwo", images: [] });
  expect(getTypedContent("one")).toEqual({ text: "one", images: [] });
});

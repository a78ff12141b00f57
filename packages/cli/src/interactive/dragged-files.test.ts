import { expect, test } from "vitest";
import { findDraggedFiles } from "./dragged-files.ts";

const find = (text: string) => findDraggedFiles(`\x1b[200~${text}\x1b[201~`);
const findPaths = (text: string) => find(text)?.map(({ imagePath }) => imagePath);

test.each([
  ["one, as it is", "/a/my picture.png", ["/a/my picture.png"]],
  ["one with an apostrophe, as it is", "/a/it's.png", ["/a/it's.png"]],
  [
    "escaped, with a blank at the end (iTerm2)",
    String.raw`/a/my\ picture.png /b/x\'\(1\).JPG `,
    ["/a/my picture.png", "/b/x'(1).JPG"],
  ],
  ["in quotes (VTE)", String.raw`'/a/my picture.png' '/b/it'\''s.png'`, ["/a/my picture.png", "/b/it's.png"]],
  [
    "in quotes where they are needed (Kitty at a prompt)",
    `'/a/my picture.png' /b/x.png`,
    ["/a/my picture.png", "/b/x.png"],
  ],
  ["in double quotes", String.raw`"/a/my picture.png" "C:\b\x.png"`, ["/a/my picture.png", String.raw`C:\b\x.png`]],
  ["one on each line, as they are (Kitty)", "/a/my picture.png\n/b/it's.png", ["/a/my picture.png", "/b/it's.png"]],
  [
    "as addresses",
    "file:///a/my%20picture.png\r\nfile://host/b/100%25.webp\r\n",
    ["/a/my picture.png", "/b/100%.webp"],
  ],
  ["with other files", "/a/x.png /b/notes.txt", ["/a/x.png", undefined]],
])("paths of images are found: %s", (_name, text, paths) => {
  expect(findPaths(text)).toEqual(paths);
  expect(
    find(text)!
      .map(({ pasted }) => pasted)
      .join(""),
  ).toBe(text);
});

test.each([
  ["a text with paths", "compare /a/x.png /b/y.png"],
  ["a text of several lines", "/a/x.png\nis wrong"],
  ["paths of other files", "/a/notes.txt /b/notes.md"],
  ["a long list", Array.from({ length: 21 }, (_unused, index) => `/a/${index}.png`).join("\n")],
  ["nothing", ""],
])("%s is no drag of images", (_name, text) => {
  expect(find(text)).toBeUndefined();
});

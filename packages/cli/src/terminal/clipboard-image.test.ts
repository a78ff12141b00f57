import { expect, test } from "vitest";
import { readImageFile } from "./clipboard-image.ts";

test.each([
  ["a file that is missing", "/proc/self/missing.png"],
  ["a directory", "/proc/self"],
  ["a file that cannot be read", "/proc/self/mem"],
])("%s is no image", async (_what, path) => {
  expect(await readImageFile(path, "/")).toBeUndefined();
});

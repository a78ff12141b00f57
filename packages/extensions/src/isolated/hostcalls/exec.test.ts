import { expect, test } from "vitest";
import { quoteCommand } from "./exec.ts";

test.each([
  ["ls", ["-l", "a=b"], "ls -l a=b"],
  ["A=b/x", ["ls"], "'A=b/x' ls"],
  ["it's", ["$HOME", ""], String.raw`'it'\''s' '$HOME' ''`],
])("%s with %j is %s", (command, args, expected) => {
  expect(quoteCommand(command, args)).toBe(expected);
});

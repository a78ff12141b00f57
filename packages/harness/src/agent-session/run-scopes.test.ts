import { expect, test } from "vitest";
import { RunScopes } from "./run-scopes.ts";

const list = (scopes: RunScopes) => ["read", "write", "exec"].filter((scope) => scopes.has(scope));

test("without a client, scopes are not asked for", () => {
  expect(list(new RunScopes())).toEqual(["read", "write", "exec"]);
});

test.each<[string, [readonly string[] | undefined, boolean][], string[]]>([
  ["a prompt brings those of its client", [[["read", "exec"], false]], ["read", "exec"]],
  [
    "the next prompt brings its own",
    [
      [["read"], false],
      [["read", "write"], false],
    ],
    ["read", "write"],
  ],
  [
    "a message to a run takes scopes away",
    [
      [["read", "exec"], false],
      [["read", "write"], true],
    ],
    ["read"],
  ],
  [
    "a message without scopes changes nothing",
    [
      [["read"], false],
      [undefined, true],
    ],
    ["read"],
  ],
  [
    "a run without scopes gets those of who joins it",
    [
      [undefined, false],
      [["write"], true],
    ],
    ["write"],
  ],
])("%s", (_name, steps, expected) => {
  const scopes = new RunScopes();
  for (const [given, isBusy] of steps) scopes.take(given, isBusy);
  expect(list(scopes)).toEqual(expected);
});

import { expect, test } from "vitest";
import { comparedNames, configNames, isHarmlessKey, isInitialKey, isPlaceKey, isRunningKey } from "./what-git-runs.ts";
import { runningNames, runningPaths } from "./what-git-runs.ts";

const harmless = [
  "user.name",
  "user.signingkey",
  "branch.main.remote",
  "branch.main.merge",
  "remote.origin.url",
  "remote.origin.fetch",
  "remote.origin.pushurl",
];
const running = [
  "core.hookspath",
  "core.fsmonitor",
  "core.sshcommand",
  "alias.x",
  "filter.x.clean",
  "diff.x.textconv",
  "credential.helper",
  "include.path",
  "remote.origin.uploadpack",
  "remote.origin.vcs",
  "init.templatedir",
  "url.https://x/.insteadof",
];

test.each(harmless)("the sandbox keeps %s, and the classifier does not report it", (key) => {
  expect({ kept: isHarmlessKey(key), reported: isRunningKey(key) }).toEqual({ kept: true, reported: false });
});

test.each(running)("the classifier reports %s, and the sandbox undoes it", (key) => {
  expect({ reported: isRunningKey(key), kept: isHarmlessKey(key) || isInitialKey(key) }).toEqual({
    reported: true,
    kept: false,
  });
});

test("a key that names a place is kept, so that its value is looked at", () => {
  for (const key of ["remote.origin.url", "remote.origin.pushurl", "branch.main.remote", "branch.main.pushremote"])
    expect([isPlaceKey(key), isHarmlessKey(key)]).toEqual([true, true]);
});

test("names that are compared or watched are names from which git runs something", () => {
  const names = runningNames.split(" ");
  expect([...comparedNames, ...configNames].filter((name) => !names.includes(name.split("/")[0]!))).toEqual([]);
  for (const name of ["hooks", ...configNames])
    expect(runningPaths.some((pattern) => pattern.test(`/src/app/.git/${name}`))).toBe(true);
});

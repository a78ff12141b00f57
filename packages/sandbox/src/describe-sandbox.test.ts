import { expect, test } from "vitest";
import { describeSandbox } from "./describe-sandbox.ts";
import { defaultSandboxSettings } from "./settings.ts";

const describe = (settings: object, isMissing = false) =>
  describeSandbox({ ...defaultSandboxSettings, ...settings }, isMissing);

test("a model is told nothing of a sandbox that is off", () => {
  expect(describe({ mode: "off" })).toBeUndefined();
  expect(describe({ mode: "off" }, true)).toBeUndefined();
});

test("a model is told that commands run in a sandbox, and what they reach from it", () => {
  const networks = ["none", "all", { allow: ["a.example"] }];
  expect(networks.map((network) => describe({ network }))).toEqual([
    "Commands run in a sandbox without network.",
    "Commands run in a sandbox.",
    "Commands run in a sandbox that reaches only a.example.",
  ]);
});

test("a model is told that there is no sandbox, and that commands cannot run where one is required", () => {
  expect(describe({}, true)).toBe("Commands run without a sandbox.");
  expect(describe({ mode: "required" }, true)).toBe("Commands cannot be run: the sandbox is missing.");
});

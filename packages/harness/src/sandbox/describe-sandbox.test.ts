import { expect, test } from "vitest";
import { describeSandbox } from "./describe-sandbox.ts";
import { findProgram } from "./programs.ts";
import { defaultSandboxSettings } from "./settings.ts";

const describe = (settings: object) => describeSandbox({ ...defaultSandboxSettings, ...settings }, "/src/app");
const hasBwrap = process.platform === "linux" && findProgram("bwrap", "/src/app") !== undefined;

test("a model is told nothing of a sandbox that is off", () => {
  expect(describe({ mode: "off" })).toBeUndefined();
});

test("a model is told whether commands run in a sandbox, and what they reach from it", () => {
  const expected = hasBwrap
    ? [
        "Commands run in a sandbox without network.",
        "Commands run in a sandbox.",
        "Commands run in a sandbox that reaches only a.example.",
      ]
    : Array.from({ length: 3 }, () => "Commands run without a sandbox.");
  const networks = ["none", "all", { allow: ["a.example"] }];
  expect(networks.map((network) => describe({ network }))).toEqual(expected);
});

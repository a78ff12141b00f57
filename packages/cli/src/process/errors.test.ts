import { HarnessError } from "@tau/protocol";
import { describe, expect, test } from "vitest";
import { getAdvice, getErrorExitCode, UsageError } from "./errors.ts";

describe("errors of the program", () => {
  test.each([
    ["arguments", 2],
    ["invalid_input", 2],
    ["not_found", 1],
    ["declined", 1],
  ] as const)("a wrong use with the code %s exits with %i", (code, exitCode) => {
    expect(getErrorExitCode(new UsageError(code, "It is wrong."))).toBe(exitCode);
  });

  test.each([
    [new HarnessError("unknown_model", "There is no such model."), 2],
    [new HarnessError("unavailable", "The editor failed."), 1],
    [new HarnessError("aborted", "It was interrupted."), 130],
    [new TypeError("x is not a function"), 1],
  ] as const)("%s exits with %i", (error, exitCode) => {
    expect(getErrorExitCode(error)).toBe(exitCode);
  });

  test("only arguments that do not fit the command are followed by where to read more", () => {
    expect(getAdvice(new UsageError("arguments", "It is wrong."), "models")).toBe(" See tau help models.");
    expect(getAdvice(new UsageError("invalid_input", "There is no file x."), "models")).toBe("");
  });
});

import { expect, test } from "vitest";
import * as errors from "./errors.ts";

const { GatewayError, isGatewayError } = errors;

test("an error is recognised, also one of another copy of the package, and nothing else is", async () => {
  const copy: typeof errors = await import(/* @vite-ignore */ `${import.meta.dirname}/errors.ts?copy`);
  const other = new copy.GatewayError("busy", "The session is running.");
  expect(other).not.toBeInstanceOf(GatewayError);
  expect([isGatewayError(other), copy.isGatewayError(new GatewayError("moved", "It moved."))]).toEqual([true, true]);
  const foreign = Object.assign(new Error("The session is running."), { name: "GatewayError", code: "busy" });
  for (const error of [foreign, { code: "busy" }, "busy", null, undefined]) expect(isGatewayError(error)).toBe(false);
});

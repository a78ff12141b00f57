/**
 * Extensions in JavaScript can register anything. What is not valid fails where it is registered, with the line of the
 * extension: later it would fail what uses all registrations, such as every prompt.
 */
import { isRecord } from "@tau/ai/internal";
import { HarnessError } from "../errors.ts";

/** Throws `invalid_input` unless `name` is a name, and `definition` an object. */
export function checkDefinition(kind: "command" | "shortcut" | "flag", name: unknown, definition: unknown): void {
  if (typeof name !== "string" || name.trim() === "") fail(`A ${kind} needs a name, which is a text.`);
  if (!isRecord(definition)) fail(`The ${kind} ${name} needs an object that describes it.`);
}

/** Throws `invalid_input` unless it is a function. */
export function checkHandler(handler: unknown, what: string): void {
  if (typeof handler !== "function") fail(`${what} is not a function.`);
}

function fail(message: string): never {
  throw new HarnessError("invalid_input", message);
}

/**
 * Extensions in JavaScript can register anything. What is not valid fails where it is registered, with the line of the
 * extension: later it would fail what uses all registrations, such as every prompt.
 */
import { isRecord } from "@tau/ai/internal";
import { ExtensionError } from "../errors.ts";
import type { ProviderConfig } from "../providers/provider-config.ts";

/** Throws `invalid_input` unless `name` is a name, and `definition` an object. */
export function checkDefinition(
  kind: "command" | "shortcut" | "flag" | "provider" | "server" | "channel",
  name: unknown,
  definition: unknown,
): void {
  if (typeof name !== "string" || name.trim() === "") fail(`A ${kind} needs a name, which is a text.`);
  if (!isRecord(definition)) fail(`The ${kind} ${name} needs an object that describes it.`);
}

/** Throws `invalid_input` unless it is a function. */
export function checkHandler(handler: unknown, what: string): void {
  if (typeof handler !== "function") fail(`${what} is not a function.`);
}

/** Throws `invalid_input` unless its functions are functions. Its data is checked where it is registered with the models. */
export function checkProviderFunctions(name: string, provider: ProviderConfig): void {
  const { oauth } = provider;
  for (const field of ["streamSimple", "refreshModels"] as const) {
    if (provider[field] !== undefined) checkHandler(provider[field], `${field} of the provider ${name}`);
  }
  if (oauth === undefined) return;
  if (!isRecord(oauth)) fail(`oauth of the provider ${name} needs to be an object.`);
  for (const field of ["login", "refreshToken", "getApiKey", "modifyModels"] as const) {
    if (field === "modifyModels" && oauth[field] === undefined) continue;
    checkHandler(oauth[field], `oauth.${field} of the provider ${name}`);
  }
}

function fail(message: string): never {
  throw new ExtensionError("invalid_input", message);
}

/**
 * Checks that what extensions give to be stored can be written and sent as JSON. Fails where it is given, not where it
 * is written.
 */
import { getErrorMessage } from "@tau/ai/internal";
import { ExtensionError } from "../errors.ts";

export function mustBeData<T>(value: T, what: string): T {
  stringify(value, what);
  return value;
}

/** Copies the value as it is now, for what is written later: an extension may change the object afterwards. */
export function copyData<T>(value: T, what: string): T {
  const text = stringify(value, what);
  return text === undefined ? value : (JSON.parse(text) as T);
}

/** Undefined for values that JSON does not have, such as functions. */
function stringify(value: unknown, what: string): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    throw new ExtensionError("invalid_input", `${what} cannot be stored: ${getErrorMessage(error)}`, { cause: error });
  }
}

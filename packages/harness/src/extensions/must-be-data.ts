import { getErrorMessage } from "@tau/ai/internal";
import { HarnessError } from "../errors.ts";

/** What extensions give to be stored is written and sent as JSON. Fails where it is given, not where it is written. */
export function mustBeData<T>(value: T, what: string): T {
  try {
    JSON.stringify(value);
    return value;
  } catch (error) {
    throw new HarnessError("invalid_input", `${what} cannot be stored: ${getErrorMessage(error)}`, { cause: error });
  }
}

import { type Fields, type FieldValues, parseFields } from "@tau/config/fields";
import { GatewayError } from "./errors.ts";

/** The parameters of a request. Throws `invalid_parameters` for wrong ones, also for fields that are not known. */
export function mustParse<F extends Fields>(fields: F, params: unknown): FieldValues<F> {
  const parsed = parseFields(fields, params, { isClosed: true });
  if (parsed.kind === "wrong") throw new GatewayError("invalid_parameters", parsed.message);
  return parsed.values;
}

import { classifyError, describeError, type Failure } from "../failure.ts";
import { asRecord } from "../json.ts";
import type { Frame } from "./protocol.ts";

/** The error that a frame reports: in a field `error`, or with its whole data if its name, type or object is `error`. */
export function findStreamError(frame: Frame): Failure | undefined {
  const data = asRecord(frame.data);
  const { error, status, status_code: statusCode } = data;
  if (error) return classifyError(describeError({ error, status, status_code: statusCode }));
  const isError = frame.event === "error" || data["type"] === "error" || data["object"] === "error";
  return isError ? classifyError(describeError(data)) : undefined;
}

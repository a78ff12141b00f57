/** Why a session cannot be written, as data and in words. */
import { assertNever } from "@tau/ai/internal";
import type { LogHolder } from "@tau/tools/storage";
import { HarnessError } from "@tau/protocol";

export type ReadOnly =
  | { reason: "asked" }
  /** `advice`: what to do where it is not known whether the holder still runs. */
  | { reason: "held"; holder: LogHolder; advice?: string }
  /** It could not be opened for writing: the disk refuses (full, read-only, no permission), or the file is not a session. */
  | { reason: "refused"; message: string }
  /** A write failed for good, for example because the disk refuses. What is in the log can still be read and copied. */
  | { reason: "failed"; message: string }
  /** The log belongs to another writer now: another node of a cluster runs the session, or a program changed its file. */
  | { reason: "overtaken"; message: string };

/** A copy is made of what this process has, so it needs no file that may be gone. */
export const copyAdvice = "Continue with a copy of it: /clone.";

export const readOnlyError = (name: string, readOnly: ReadOnly): HarnessError =>
  new HarnessError("read_only", `The session ${name} ${formatReadOnly(readOnly)}`);

/** Whether an error says that a session could not be written. */
export const isLogError = (error: unknown): boolean =>
  error instanceof HarnessError &&
  (error.code === "write_failed" || error.code === "read_only" || error.code === "overtaken");

function formatReadOnly(readOnly: ReadOnly): string {
  switch (readOnly.reason) {
    case "asked":
      return "was opened for reading only.";
    case "held": {
      const { holder, advice } = readOnly;
      const fork = "fork the session to continue here.";
      if (advice !== undefined) return `cannot be written here. ${advice} Otherwise ${fork}`;
      return `is being written by ${holder.name}. Close it there and open it again, or ${fork}`;
    }
    case "refused":
      return `cannot be written: ${readOnly.message}. Fix that, close the session and open it again.`;
    case "failed":
    case "overtaken":
      return `can no longer be written: ${readOnly.message}. ${copyAdvice}`;
    default:
      return assertNever(readOnly);
  }
}

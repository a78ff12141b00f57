/** How a closed store refuses. */
import { HarnessError } from "@tau/protocol";
import type { AppendOutcome } from "./storage.ts";

export const closedError = (name: string) =>
  new HarnessError("closed", `The session ${name} is closed. Open it again to continue.`);

export const closedOutcome: AppendOutcome = { kind: "failed", reason: "the session is closed", canRetry: false };

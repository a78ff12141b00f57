/** Refuses files of other programs. */
import { HarnessError } from "@tau/protocol";

export const notSession = (path: string) =>
  new HarnessError("invalid_input", `${path} is not a session file (no header, no messages).`);

import { HarnessError } from "@tau/protocol";

export const unknownEntry = (id: string): HarnessError =>
  new HarnessError("unknown_entry", `The session has no entry ${JSON.stringify(id)}.`);

import { GatewayError } from "../errors.ts";

/** Refuses a search where the logs of sessions are in a storage or a cluster. */
export const needsFiles = (): GatewayError =>
  new GatewayError("unavailable", "Only sessions in files can be searched, and those of this gateway are elsewhere.");

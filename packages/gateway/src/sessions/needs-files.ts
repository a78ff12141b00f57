import { GatewayError } from "../errors.ts";

/** Refuses what needs the files of sessions where their logs are in a storage or a cluster. */
export const needsFiles = (done: "searched" | "counted"): GatewayError =>
  new GatewayError("unavailable", `Only sessions in files can be ${done}, and those of this gateway are elsewhere.`);

/** The arguments of `sandbox-exec` before a command. Pure. */
import type { SeatbeltProfile } from "./profile.ts";

export const toArguments = ({ rules, parameters }: SeatbeltProfile): string[] => [
  ...Object.entries(parameters).flatMap(([name, value]) => ["-D", `${name}=${value}`]),
  "-p",
  rules,
];

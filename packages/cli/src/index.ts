export type { Command, Io, Run } from "./command.ts";
export { type ExitCode, exitCodes } from "./exit-codes.ts";
export { main } from "./main.ts";

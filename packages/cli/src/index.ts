export type { Command, Io } from "./command.ts";
export { type ExitCode, exitCodes } from "./exit-codes.ts";
export { main } from "./main.ts";

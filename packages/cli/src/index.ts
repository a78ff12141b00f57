export type { Command, Io } from "./commands/command.ts";
export { type ExitCode, exitCodes } from "./process/exit-codes.ts";
export { main } from "./start/main.ts";

/** The second stage: the whole program, as one file. */
import { reportCrash } from "../process/errors.ts";
import { exitCodes } from "../process/exit-codes.ts";
import { main } from "./main.ts";
import { processIo } from "../process/process-io.ts";

const { io, finish } = processIo(process);
const args = process.argv.slice(2);
const crash = async (error: unknown) => {
  try {
    await reportCrash(error, args, io);
  } finally {
    finish(exitCodes.failed);
  }
};
// Also for rejected promises that nobody waits for. Node would show a line of the program, which is very long.
process.on("uncaughtException", (error) => void crash(error));
void main(args, io).then(finish, crash);

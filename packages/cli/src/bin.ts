/** The second stage: the whole program, as one file. */
import { exitCodes } from "./exit-codes.ts";
import { main } from "./main.ts";
import { processIo } from "./process-io.ts";

const { io, finish } = processIo(process);
void main(process.argv.slice(2), io)
  .catch(() => exitCodes.failed)
  .then(finish);

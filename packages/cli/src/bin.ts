#!/usr/bin/env node
import { exitCodes } from "./exit-codes.ts";
import { main } from "./main.ts";

const interrupt = new AbortController();
process.once("SIGINT", () => {
  interrupt.abort();
  // The second Ctrl-C does not wait for anything.
  process.once("SIGINT", () => process.exit(exitCodes.interrupted));
});
// Whoever reads our output may leave early, as `head` does; that is no failure of ours.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(exitCodes.done);
  throw error;
});

process.exitCode = await main(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  colour: process.stdout.isTTY === true && !process.env["NO_COLOR"],
  signal: interrupt.signal,
});

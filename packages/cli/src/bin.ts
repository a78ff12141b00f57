#!/usr/bin/env node
import { exitCodes } from "./exit-codes.ts";
import { main } from "./main.ts";
import { processIo } from "./process-io.ts";

const { io, finish } = processIo(process);
finish(await main(process.argv.slice(2), io).catch(() => exitCodes.failed));

import { extname, resolve } from "node:path";
import { type ExportSource, exportHtml, exportJsonl, exportMarkdown } from "@tau/harness";
import { consent, endOf } from "../choose.ts";
import type { Io } from "../command.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import type { Given } from "./forms.ts";
import { placeOf, readSession, sessionFile } from "./place.ts";
import { usageMistake } from "./run-forms.ts";
import { findTarget, writeTarget } from "./write-export.ts";

type Format = "html" | "md" | "jsonl";

const exporters: Record<Format, (source: ExportSource) => string> = {
  html: (source) => exportHtml(source),
  md: (source) => exportMarkdown(source),
  jsonl: (source) => exportJsonl(source),
};

export async function exportSession(given: Given, io: Io): Promise<ExitCode> {
  const place = await placeOf(io);
  const output = given.value("output");
  const format = (given.value("format") as Format | undefined) ?? formatOf(output);
  const path = await sessionFile(place, given.places[0], io);
  const source = await readSession(path, place, (session) => session.exportSource());
  const text = exporters[format](source);
  if (output === undefined || output === "-" || output === "/dev/stdout") {
    io.out(text);
    await io.drained();
    return exitCodes.done;
  }
  const target = await findTarget(resolve(place.cwd, output));
  const answer = target.kind === "file" ? await consent(io, `Replace ${target.path}?`, given.has("yes")) : "yes";
  if (answer === "nobody")
    return usageMistake("sessions", `${target.path} exists already: choose another name, or add --yes.`, io);
  if (answer !== "yes") return endOf(answer);
  await writeTarget(target, text, io.signal);
  io.err(`Wrote ${target.path}.\n`);
  return exitCodes.done;
}

/** What the file's name says, else a page. */
function formatOf(output: string | undefined): Format {
  const ending = extname(output ?? "").slice(1);
  return Object.hasOwn(exporters, ending) ? (ending as Format) : "html";
}

import { extname, resolve } from "node:path";
import {
  type ExportSource,
  exportHtml,
  exportJsonl,
  exportMarkdown,
  findTarget,
  writeTarget,
} from "@tau/harness/export";
import { consent, getEnd } from "../choose.ts";
import type { Io } from "../command.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import type { Given } from "./forms.ts";
import { openCommandContext, readSession, sessionFile } from "./command-context.ts";
import { usageMistake } from "./run-forms.ts";

type Format = "html" | "md" | "jsonl";

const exporters: Record<Format, (source: ExportSource) => Promise<string> | string> = {
  html: (source) => exportHtml(source),
  md: (source) => exportMarkdown(source),
  jsonl: (source) => exportJsonl(source),
};

export async function exportSession(given: Given, io: Io): Promise<ExitCode> {
  const context = await openCommandContext(io);
  const output = given.value("output");
  const format = (given.value("format") as Format | undefined) ?? detectFormat(output);
  const path = await sessionFile(context, given.places[0], io);
  const source = await readSession(path, context, (session) => session.exportSource());
  const text = await exporters[format](source);
  if (output === undefined || output === "-" || output === "/dev/stdout") {
    io.out(text);
    await io.drained();
    return exitCodes.done;
  }
  const target = await findTarget(resolve(context.cwd, output));
  const answer = target.kind === "file" ? await consent(io, `Replace ${target.path}?`, given.has("yes")) : "yes";
  if (answer === "nobody")
    return usageMistake("sessions", `${target.path} exists already: choose another name, or add --yes.`, io);
  if (answer !== "yes") return getEnd(answer);
  await writeTarget(target, text, io.signal);
  io.err(`Wrote ${target.path}.\n`);
  return exitCodes.done;
}

/** What the file's name says, else a page. */
function detectFormat(output: string | undefined): Format {
  const ending = extname(output ?? "").slice(1);
  return Object.hasOwn(exporters, ending) ? (ending as Format) : "html";
}

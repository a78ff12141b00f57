import { extname, resolve } from "node:path";
import {
  type ExportSource,
  exportHtml,
  exportJsonl,
  exportMarkdown,
  findTarget,
  writeTarget,
} from "@tau/harness/export";
import { confirm } from "../ask.ts";
import type { Io } from "../command.ts";
import { findSessionFile, openCommandContext, readSession } from "./command-context.ts";
import { formatProblems } from "./sessions-repair.ts";
import type { CommandArgs } from "./usage.ts";

type Format = "html" | "md" | "jsonl";

const exporters: Record<Format, (source: ExportSource) => Promise<string> | string> = {
  html: exportHtml,
  md: exportMarkdown,
  jsonl: exportJsonl,
};

export async function exportSession(args: CommandArgs, io: Io): Promise<void> {
  const context = await openCommandContext(io);
  const output = args.value("output");
  const format = (args.value("format") as Format | undefined) ?? detectFormat(output);
  const path = await findSessionFile(context, args.positionals[0], io);
  const { source, problems } = await readSession(path, context, async (session) => ({
    source: await session.exportSource(),
    problems: session.problems,
  }));
  io.err(formatProblems(problems));
  const text = await exporters[format](source);
  if (output === undefined || output === "-" || output === "/dev/stdout") {
    io.out(text);
    await io.drained();
    return;
  }
  const target = await findTarget(resolve(context.cwd, output));
  if (target.kind === "file") {
    const declined = `${target.path} was not replaced.`;
    await confirm(io, `${target.path} exists already. Replace it?`, { yes: args.has("yes"), declined });
  }
  await writeTarget(target, text, io.signal);
  io.err(`Wrote ${target.path}.\n`);
}

/** By the extension of the file; HTML for any other. */
function detectFormat(output = ""): Format {
  const extension = extname(output).slice(1);
  return Object.hasOwn(exporters, extension) ? (extension as Format) : "html";
}

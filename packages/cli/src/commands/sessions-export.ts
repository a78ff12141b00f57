import { extname, parse, resolve } from "node:path";
import {
  type ExportSource,
  exportHtml,
  exportJsonl,
  exportMarkdown,
  findTarget,
  writeTarget,
} from "@tau/harness/export";
import { confirm } from "../process/ask.ts";
import type { Io } from "./command.ts";
import { findSessionFile, openCommandContext, readSession } from "./command-context.ts";
import { formatProblems } from "./format-problems.ts";
import type { CommandArgs } from "./usage.ts";

type Format = "html" | "md" | "jsonl";

const exporters: Record<Format, (source: ExportSource) => Promise<string> | string> = {
  html: exportHtml,
  md: exportMarkdown,
  jsonl: exportJsonl,
};

export async function exportSession(args: CommandArgs, io: Io): Promise<void> {
  const output = args.value("output");
  const format = (args.value("format") as Format | undefined) ?? detectFormat(output);
  await write(args.positionals[0], { output: () => output, format, replaces: () => args.has("yes") }, io);
}

/** `--export`: without an `output`, the file is named after the session. An existing page is replaced, as pi does it. */
export async function exportAsHtml(reference: string, output: string, io: Io): Promise<void> {
  const getOutput = (path: string) => output || `tau-session-${parse(path).name}.html`;
  await write(reference, { output: getOutput, format: "html", replaces: (target) => /\.html?$/i.test(target) }, io);
}

interface WriteOptions {
  /** The file to write, for the file of the session; undefined for standard output. */
  output: (path: string) => string | undefined;
  format: Format;
  /** Whether an existing file is replaced without a question, by its real path. */
  replaces: (target: string) => boolean;
}

async function write(reference: string | undefined, options: WriteOptions, io: Io): Promise<void> {
  const { format, replaces } = options;
  const context = await openCommandContext(io);
  const path = await findSessionFile(context, reference, io);
  const output = options.output(path);
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
  const target = await findTarget(resolve(context.cwd, output), path);
  if (target.kind === "file") {
    const declined = `${target.path} was not replaced.`;
    await confirm(io, `${target.path} exists already. Replace it?`, { yes: replaces(target.path), declined });
  }
  await writeTarget(target, text, io.signal);
  io.err(`Wrote ${target.path}.\n`);
}

/** By the extension of the file; HTML for any other. */
function detectFormat(output = ""): Format {
  const extension = extname(output).slice(1);
  return Object.hasOwn(exporters, extension) ? (extension as Format) : "html";
}

/** pi's tool `read`, over operations that may be those of another machine. */
import { constants } from "node:fs";
import { access, readFile } from "node:fs/promises";
import type { AgentToolResult } from "@tau/agent";
import { systemClock } from "@tau/ai";
import { prepareImage } from "@tau/tools";
import { detectImageType, type ImageType } from "@tau/tools/platform";
import * as Type from "typebox";
import { toExistingPath } from "./paths.ts";
import { createTool, type PiTool, refuseAborted, toResult } from "./tool.ts";
import { DEFAULT_MAX_BYTES, formatSize, truncateHead, type TruncationResult } from "./truncate.ts";

interface ReadOperations {
  readFile(path: string): Promise<Buffer>;
  /** Throws if the file cannot be read. */
  access(path: string): Promise<void>;
  /** Default: the first bytes tell. */
  detectImageMimeType?(path: string): Promise<string | null | undefined>;
}

export interface ReadToolOptions {
  /** Default true. */
  autoResizeImages?: boolean;
  /** Default: this machine's files. */
  operations?: ReadOperations;
}

interface ReadToolDetails {
  truncation?: TruncationResult;
}

interface ReadArguments {
  path: string;
  offset?: number;
  limit?: number;
}

const parameters = Type.Object({
  path: Type.String({ description: "Path of the file, relative or absolute" }),
  offset: Type.Optional(Type.Number({ description: "First line to read, from 1" })),
  limit: Type.Optional(Type.Number({ description: "How many lines to read" })),
});

const localOperations: ReadOperations = {
  readFile: (path) => readFile(path),
  access: (path) => access(path, constants.R_OK),
};

export function createReadTool(
  cwd: string,
  { autoResizeImages = true, operations = localOperations }: ReadToolOptions = {},
): PiTool<ReadToolDetails | undefined> {
  return createTool<ReadArguments, ReadToolDetails | undefined>("read", parameters, async (args, signal) => {
    refuseAborted(signal);
    const path = toExistingPath(cwd, args.path);
    await operations.access(path);
    refuseAborted(signal);
    const bytes = await operations.readFile(path);
    refuseAborted(signal);
    const mimeType = operations.detectImageMimeType
      ? await operations.detectImageMimeType(path)
      : detectImageType(bytes);
    if (mimeType) return await showImage(bytes, mimeType, { path, resizes: autoResizeImages });
    return showText(bytes.toString("utf8"), args);
  });
}

async function showImage(
  bytes: Buffer,
  mimeType: string,
  { path, resizes }: { path: string; resizes: boolean },
): Promise<AgentToolResult<undefined>> {
  const limits = { path, clock: systemClock, signal: undefined, resizes };
  const { image, note } = await prepareImage(bytes, mimeType as ImageType, limits);
  const text = [`Read image file [${image.mimeType}]`, note].filter(Boolean).join("\n");
  return { content: [{ type: "text", text }, image], details: undefined };
}

function showText(text: string, { path, offset, limit }: ReadArguments): AgentToolResult<ReadToolDetails | undefined> {
  const lines = text.split("\n");
  const first = offset === undefined ? 0 : Math.max(0, offset - 1);
  if (first >= lines.length) throw new Error(`Offset ${offset} is beyond end of file (${lines.length} lines total)`);
  const end = limit === undefined ? lines.length : Math.min(first + limit, lines.length);
  const truncation = truncateHead(lines.slice(first, end).join("\n"));
  if (truncation.firstLineExceedsLimit) {
    const size = formatSize(Buffer.byteLength(lines[first]!));
    const line = first + 1;
    const advice = `Use bash: sed -n '${line}p' ${path} | head -c ${DEFAULT_MAX_BYTES}`;
    return toResult(`[Line ${line} is ${size}, exceeds ${formatSize(DEFAULT_MAX_BYTES)} limit. ${advice}]`, {
      truncation,
    });
  }
  if (truncation.truncated) {
    const last = first + truncation.outputLines;
    const why = truncation.truncatedBy === "bytes" ? ` (${formatSize(DEFAULT_MAX_BYTES)} limit)` : "";
    const note = `[Showing lines ${first + 1}-${last} of ${lines.length}${why}. Use offset=${last + 1} to continue.]`;
    return toResult(`${truncation.content}\n\n${note}`, { truncation });
  }
  if (end === lines.length) return toResult(truncation.content, undefined);
  const left = `[${lines.length - end} more lines in file. Use offset=${end + 1} to continue.]`;
  return toResult(`${truncation.content}\n\n${left}`, undefined);
}

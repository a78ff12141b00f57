import type { AgentToolResult } from "@tau/agent";
import { type Clock, systemClock } from "@tau/ai";
import type { Static } from "typebox";
import { definitions, type ParametersOf } from "../definitions.ts";
import { ToolsError } from "../errors.ts";
import { maxHashlineBytes } from "../hashline/edit-files.ts";
import { showHashline } from "../hashline/show.ts";
import { createSnapshots, type Snapshots } from "../hashline/snapshots.ts";
import type { Files, ReadableFile } from "../platform/files.ts";
import type { Syntax } from "../platform/syntax.ts";
import type { DescribedTool } from "../tool.ts";
import { formatBytes, defaultMaxBytes, defaultMaxLines } from "../truncate.ts";
import { unlessAborted } from "./abort.ts";
import { type LineWindow, readLines, refuseBeyond } from "./lines.ts";
import { showOutline } from "./outline.ts";
import { resolveExisting } from "./path.ts";
import { type ImageLimits, maxImageFileBytes, prepareImage } from "./image.ts";
import type { ShrinkLimits } from "./image-worker.ts";
import type { SeenFiles } from "./seen-files.ts";
import { headBytes, type ImageType, detectImageType, refuseBinary, refuseZeros } from "./sniff.ts";

export interface ReadDetails {
  path: string;
  firstLine: number;
  shownLines: number;
  /** Known when the end of the file was reached. */
  totalLines?: number;
}

/** Shows a file, or a part of one. */
export function createReadTool({
  cwd,
  files: ownFiles,
  clock = systemClock,
  snapshots = createSnapshots(),
  seen,
  resizesImages = true,
  getImageLimits = () => ({}),
  syntax,
}: {
  cwd: string;
  files: Files;
  /** Limits the time that an image may take. Default: the system's. */
  clock?: Clock;
  /** Remembers the lines that were shown with anchors; share it with the hashline tools. */
  snapshots?: Snapshots;
  /** Remembers which files were shown; share it with the tools that write. */
  seen?: SeenFiles;
  /** Whether images that are larger than models like are made smaller. Default true. */
  resizesImages?: boolean;
  /** How large images may be that are shown, asked for each. Default: what most models take. */
  getImageLimits?: (() => ImageLimits) | undefined;
  /** Gives the outlines of long source files. Default: none. */
  syntax?: Syntax | undefined;
}): DescribedTool<ParametersOf<"read">, ReadDetails> {
  const read = async (
    files: Files,
    { path: typed, offset = 1, limit: asked, hashline = false }: Static<ParametersOf<"read">>,
    signal: AbortSignal | undefined,
  ): Promise<AgentToolResult<ReadDetails>> => {
    const limit = asked ?? defaultMaxLines;
    const path = await resolveExisting(files, cwd, typed);
    const file = await files.openRead(path);
    const show = async () => {
      const image = await sniff(file, typed);
      if (image)
        return await showImage(files, file, image, {
          ...getImageLimits(),
          path,
          clock,
          signal,
          resizes: resizesImages,
        });
      if (hashline) return await showAnchors({ files, snapshots }, { path, typed }, { offset, limit });
      const maxLines = Math.min(limit, defaultMaxLines);
      const window = await readLines(file, { offset, maxLines, maxBytes: defaultMaxBytes, signal });
      // A file may begin as a text and be binary further on.
      for (const line of window.lines) refuseZeros(line, typed, file.size);
      return present(window, path, offset);
    };
    try {
      const result = await show();
      seen?.set(file.realPath, file.stamp);
      const { shownLines, totalLines } = result.details!;
      const isOwnPart = offset > 1 || asked !== undefined || shownLines === 0 || shownLines === totalLines;
      return isOwnPart ? result : addText(result, await showOutline({ files, syntax, clock }, path));
    } finally {
      await file.close();
    }
  };
  return {
    ...definitions.read,
    execute: (_id, args, signal, _onUpdate, context) =>
      unlessAborted(read(context?.files ?? ownFiles, args, signal), signal),
  };
}

const addText = (result: AgentToolResult<ReadDetails>, text: string): AgentToolResult<ReadDetails> =>
  text === "" ? result : { ...result, content: [...result.content, { type: "text", text }] };

/** The type of an image; undefined for a text. Throws for a file that cannot be shown at all. */
async function sniff(file: ReadableFile, path: string): Promise<ImageType | undefined> {
  const head = Buffer.allocUnsafe(headBytes);
  const start = head.subarray(0, await file.read(head, 0));
  const image = detectImageType(start);
  if (image) return image;
  refuseBinary(start, path, file.size);
  return undefined;
}

async function showImage(
  files: Files,
  { size }: ReadableFile,
  type: ImageType,
  limits: ShrinkLimits & ImageLimits & { resizes: boolean },
): Promise<AgentToolResult<ReadDetails>> {
  const { path } = limits;
  if (size > maxImageFileBytes) {
    const limit = formatBytes(maxImageFileBytes);
    throw new ToolsError(
      "too_large",
      `${path} is an image of ${formatBytes(size)}; at most ${limit} can be shown. Make it smaller first.`,
    );
  }
  const { bytes } = await files.readWhole(path, maxImageFileBytes);
  const { image, note } = await prepareImage(bytes, type, limits);
  return {
    content: [{ type: "text", text: note ?? `[An image, ${type}.]` }, image],
    details: { path, firstLine: 1, shownLines: 0 },
  };
}

/** Reads the whole file, because its tag is of all of it. */
async function showAnchors(
  { files, snapshots }: { files: Files; snapshots: Snapshots },
  { path, typed }: { path: string; typed: string },
  range: { offset: number; limit: number },
): Promise<AgentToolResult<ReadDetails>> {
  const { realPath, bytes } = await files.readWhole(path, maxHashlineBytes);
  const { text, ...shown } = showHashline(snapshots, { typed, realPath, bytes }, range);
  return { content: [{ type: "text", text }], details: { path, ...shown } };
}

function present(window: LineWindow, path: string, offset: number): AgentToolResult<ReadDetails> {
  const { lines, totalLines } = window;
  if (totalLines !== undefined) refuseBeyond(offset, totalLines);
  const notice = formatNotice(window);
  const text = [lines.join("\n"), notice].filter(Boolean).join("\n\n");
  return {
    content: [{ type: "text", text: totalLines === 0 ? "(the file is empty)" : text }],
    details: {
      path,
      firstLine: offset,
      shownLines: lines.length,
      ...(totalLines !== undefined && { totalLines }),
    },
  };
}

/** Describes what was left out, and how to get it. */
function formatNotice({ lines, firstLine, hasMore, tooLong }: LineWindow): string {
  if (tooLong) {
    const { line, bytes } = tooLong;
    const condition = hasMore ? "" : ", if the file has more lines";
    const next = hasMore === false ? "" : ` Continue with offset=${line + 1}${condition}.`;
    return `[Line ${line} is too long to show: ${formatBytes(bytes)} or more, the limit is ${formatBytes(defaultMaxBytes)}. See it with bash: sed -n '${line}p' FILE | head -c 10000.${next}]`;
  }
  if (!hasMore) return "";
  const last = firstLine + lines.length - 1;
  return `[Showing lines ${firstLine}-${last}. Continue with offset=${last + 1}.]`;
}

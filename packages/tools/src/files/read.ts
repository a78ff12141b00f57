import type { AgentToolResult } from "@tau/agent";
import { type Clock, systemClock } from "@tau/ai";
import type { ToolArguments } from "@tau/ai";
import { definitions, type ParametersOf } from "../definitions.ts";
import { detectDocument } from "../documents/kind.ts";
import { ToolsError } from "../errors.ts";
import { maxHashlineBytes } from "../hashline/edit-files.ts";
import { showHashline } from "../hashline/show.ts";
import { createSnapshots, type Snapshots } from "../hashline/snapshots.ts";
import type { Files, ReadableFile } from "../platform/files.ts";
import type { Syntax } from "../platform/syntax.ts";
import type { DescribedTool } from "../tool.ts";
import { formatBytes, defaultMaxBytes, defaultMaxLines } from "../truncate.ts";
import { unlessAborted } from "./abort.ts";
import { readLines } from "./lines.ts";
import { showOutline } from "./outline.ts";
import { resolveReadable } from "./path.ts";
import { type ImageLimits, maxImageFileBytes, prepareImage } from "./image.ts";
import type { ShrinkLimits } from "./image-worker.ts";
import type { SeenFiles } from "./seen-files.ts";
import { presentLines, type ReadDetails } from "./show-lines.ts";
import { detectImageType, headBytes, type ImageType, refuseBinary, refuseZeros } from "./sniff.ts";

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
    { path: typed, offset = 1, limit: asked, hashline = false }: ToolArguments<ParametersOf<"read">>,
    signal: AbortSignal | undefined,
  ): Promise<AgentToolResult<ReadDetails>> => {
    const limit = asked ?? defaultMaxLines;
    const { path, name, part } = await resolveReadable(files, cwd, typed);
    const file = await files.openRead(path);
    const show = async () => {
      const head = await readHead(file);
      const image = part === undefined ? detectImageType(head) : undefined;
      const imageLimits = { ...getImageLimits(), resizes: resizesImages };
      if (image) return await showImage(files, file, image, { ...imageLimits, path, clock, signal });
      const kind = hashline && part === undefined ? undefined : detectDocument(head, name);
      if (kind) {
        // Loaded late: most files are texts.
        const { showDocument } = await import("../documents/show-document.ts");
        const request = { files, file, path, name, part, offset, limit: asked, image: imageLimits, clock, signal };
        const document = await showDocument(kind, request);
        if (document) return document;
      }
      if (part !== undefined) throw hasNoParts(name, part);
      refuseBinary(head, typed, file.size);
      if (hashline) return await showAnchors({ files, snapshots }, { path, typed }, { offset, limit });
      const maxLines = Math.min(limit, defaultMaxLines);
      const window = await readLines(file, { offset, maxLines, maxBytes: defaultMaxBytes, signal });
      // A file may begin as a text and be binary further on.
      for (const line of window.lines) refuseZeros(line, typed, file.size);
      const result = presentLines(window, path, { offset, getHint: seeWithSed });
      const isWhole = window.lines.length === 0 || window.lines.length === window.totalLines;
      if (isWhole || offset > 1 || asked !== undefined) return result;
      return addText(result, await showOutline({ files, syntax, clock }, path));
    };
    try {
      const result = await show();
      seen?.set(file.realPath, file.stamp);
      return result;
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

async function readHead(file: ReadableFile): Promise<Buffer> {
  const head = Buffer.allocUnsafe(headBytes);
  return head.subarray(0, await file.read(head, 0));
}

const seeWithSed = (line: number) => ` See it with bash: sed -n '${line}p' FILE | head -c 10000.`;

const hasNoParts = (name: string, part: string) =>
  new ToolsError(
    "not_found",
    `There is no file ${name}#${part}, and ${name} has no parts: only archives and databases do. Read ${name} itself.`,
  );

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

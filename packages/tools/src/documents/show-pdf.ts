/** The pages of a PDF as the result of a read. */
import type { AgentToolResult } from "@tau/agent";
import { ToolsError } from "../errors.ts";
import type { ReadDetails } from "../files/show-lines.ts";
import { extractPdfText } from "../pdf/extract-text.ts";
import { countLines, defaultMaxBytes, defaultMaxLines, formatBytes } from "../truncate.ts";

const maxPdfBytes = 50 * 1024 * 1024;

interface PdfRequest {
  /** Names the file in messages. */
  name: string;
  path: string;
  /** Its size may be more than what was read of it. */
  size: number;
  offset: number;
  limit: number | undefined;
  signal: AbortSignal | undefined;
}

/** `offset` and `limit` count pages: they have numbers that people use. */
export async function showPdf(
  readBytes: (max: number) => Promise<Buffer>,
  { name, path, size, offset, limit, signal }: PdfRequest,
): Promise<AgentToolResult<ReadDetails>> {
  if (size > maxPdfBytes) {
    const limits = `${formatBytes(size)}; at most ${formatBytes(maxPdfBytes)} can be shown`;
    throw new ToolsError("too_large", `${name} is a PDF of ${limits}. Use pdftotext in bash.`);
  }
  const read = await extractPdfText(await readBytes(maxPdfBytes), {
    firstPage: offset,
    maxPages: Math.min(limit ?? maxPagesAtOnce, maxPagesAtOnce),
    // As many as are shown: characters have a byte at least.
    maxChars: defaultMaxBytes,
    signal,
  });
  if (read.kind !== "text") throw new ToolsError("binary", `${name} could not be read. ${read.message}`);
  const { pages, totalPages, notes } = read;
  if (offset > totalPages)
    throw new ToolsError("invalid_input", `Page ${offset} is beyond the end of ${name}, which has ${totalPages}.`);
  const { texts, isCut } = fitPages(pages.map((text, index) => formatPage(text, offset + index, totalPages)));
  const last = offset + texts.length - 1;
  const remarks = [
    ...notes,
    ...(isCut
      ? [
          `Page ${last} is longer than ${formatBytes(defaultMaxBytes)} or ${countLines(defaultMaxLines)}; the rest of it is not shown.`,
        ]
      : []),
    ...(last < totalPages
      ? [`Showing pages ${offset}-${last} of ${totalPages}. Continue with offset=${last + 1}.`]
      : []),
  ];
  const text = [...texts, ...remarks.map((remark) => `[${remark}]`)].join("\n\n");
  return {
    content: [{ type: "text", text }],
    details: { path, firstLine: offset, shownLines: texts.length, totalLines: totalPages, unit: "pages" },
  };
}

const maxPagesAtOnce = 1_000;

const formatPage = (text: string, page: number, total: number): string =>
  `[Page ${page} of ${total}]\n${text === "" ? "(no text)" : text.replaceAll("\0", "\ufffd")}`;

/** Keeps as many whole pages as fit. Of a page that does not fit alone the beginning is kept. Pure. */
export function fitPages(pages: readonly string[]): { texts: string[]; isCut: boolean } {
  const texts: string[] = [];
  let [bytes, lines] = [0, 0];
  for (const page of pages) {
    bytes += Buffer.byteLength(page) + 2;
    lines += page.split("\n").length + 1;
    if (bytes > defaultMaxBytes || lines > defaultMaxLines) break;
    texts.push(page);
  }
  const [first] = pages;
  if (texts.length > 0 || first === undefined) return { texts, isCut: false };
  const head = first.split("\n").slice(0, defaultMaxLines).join("\n");
  // A character that is cut in two is left out.
  const cut = Buffer.from(head)
    .subarray(0, defaultMaxBytes)
    .toString("utf8")
    .replace(/\ufffd+$/, "");
  return { texts: [cut], isCut: true };
}

/**
 * The text of a PDF, page by page. Bounded in time and memory: a file that is damaged or wants too much is a failure. Others can work
 * in between.
 */
import { setImmediate } from "node:timers/promises";
import { PdfDocument, toDict } from "./document.ts";
import type { Font } from "./fonts.ts";
import { PageReader } from "./page-text.ts";
import { type PdfBudget, type PdfDict, PdfFailure, PdfRef, type PdfValue } from "./values.ts";

export interface PdfLimits {
  /** Bytes of all streams together, unpacked. Default 64 MB. */
  readonly maxUnpackedBytes?: number;
  /** Values of all streams together, such as operands and operators. Default 5 million. */
  readonly maxValues?: number;
  /** The first page that is read, counted from 1. Default 1. */
  readonly firstPage?: number;
  /** Default 2,000. */
  readonly maxPages?: number;
  /** Characters of all pages together. Default 5 million. */
  readonly maxChars?: number;
  /** Rejects with its reason when it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

export type PdfText =
  | {
      readonly kind: "text";
      /** The pages that were read, in their order. A page without text is empty. */
      readonly pages: readonly string[];
      /** How many pages there are, up to 20,000. */
      readonly totalPages: number;
      /** Sentences about what is missing of these pages. */
      readonly notes: readonly string[];
    }
  | {
      readonly kind: PdfFailure["kind"];
      /** A sentence for people and models. */
      readonly message: string;
    };

const maxListedPages = 20_000;

export async function extractPdfText(
  bytes: Uint8Array,
  {
    maxUnpackedBytes = 64 * 1024 * 1024,
    maxValues = 5_000_000,
    firstPage = 1,
    maxPages = 2_000,
    maxChars = 5_000_000,
    signal,
  }: PdfLimits = {},
): Promise<PdfText> {
  const budget: PdfBudget = { bytes: maxUnpackedBytes, values: maxValues };
  try {
    return await runInSteps(readPages(bytes, budget, { firstPage, maxPages, maxChars }), signal);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof PdfFailure) return { kind: error.kind, message: describe(error) };
    // Hostile files reach states that nobody thought of; a bug in reading them must not end a session.
    return { kind: "damaged", message: "The PDF is damaged, and its text cannot be read." };
  }
}

const maxStepMs = 20;

/** Lets others work after some time. */
async function runInSteps<T>(steps: Generator<void, T>, signal: AbortSignal | undefined): Promise<T> {
  for (let start = performance.now(); ;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() - start < maxStepMs) continue;
    await setImmediate();
    signal?.throwIfAborted();
    start = performance.now();
  }
}

function describe({ kind, message }: PdfFailure): string {
  switch (kind) {
    case "encrypted":
      return `The PDF is encrypted, and its text cannot be read. ${message}`;
    case "no_text":
      return message;
    case "damaged":
      return `The PDF is damaged, and its text cannot be read. ${message}`;
    case "too_large":
      return `The PDF is too large to be read. ${message}`;
  }
}

interface PageLimits {
  readonly firstPage: number;
  readonly maxPages: number;
  readonly maxChars: number;
}

function* readPages(
  bytes: Uint8Array,
  budget: PdfBudget,
  { firstPage, maxPages, maxChars }: PageLimits,
): Generator<void, PdfText> {
  const document = yield* PdfDocument.open(bytes, budget);
  const found = listPages(document, maxListedPages);
  if (found.length === 0) throw new PdfFailure("damaged", "It has no pages that can be found.");
  const pages: string[] = [];
  const fonts = new Map<PdfDict, Font>();
  const notes: string[] = [];
  let [known, unknown, left, hasImages] = [0, 0, maxChars, false];
  for (const { dict, resources } of found.slice(firstPage - 1, firstPage - 1 + maxPages)) {
    if (left <= 0) break;
    yield;
    try {
      const page = yield* new PageReader({ document, budget, fonts, maxChars: left }).read(dict, resources);
      pages.push(page.text);
      known += page.known;
      unknown += page.unknown;
      hasImages ||= page.hasImages;
      left -= page.text.length;
    } catch (error) {
      if (!(error instanceof PdfFailure) || pages.every((text) => text === "")) throw error;
      notes.push(`Page ${firstPage + pages.length} and those after it could not be read. ${error.message}`);
      break;
    }
  }
  const isEmpty = pages.every((text) => text === "");
  if (isEmpty && pages.length === found.length) throw describeEmpty({ unknown, hasImages });
  if (unknown > known / 10)
    notes.push("Some fonts do not say which characters their glyphs are, so parts of the text are missing.");
  return { kind: "text", pages, totalPages: found.length, notes };
}

const describeEmpty = ({ unknown, hasImages }: { unknown: number; hasImages: boolean }): PdfFailure =>
  new PdfFailure(
    "no_text",
    unknown > 0
      ? "The fonts of the PDF do not say which characters their glyphs are, so that it has no text to read."
      : hasImages
        ? "The PDF has only images, as a scanned document does, and no text."
        : "The PDF has no text.",
  );

interface FoundPage {
  readonly dict: PdfDict;
  readonly resources: PdfDict;
}

/** Pages inherit resources. A tree that contains itself is followed once. */
function listPages(document: PdfDocument, max: number): FoundPage[] {
  const pages: FoundPage[] = [];
  const seen = new Set<number>();
  const waiting: { value: PdfValue | undefined; resources: PdfDict }[] = [
    { value: document.getDict(document.trailer, "Root").get("Pages"), resources: new Map() },
  ];
  while (waiting.length > 0 && pages.length < max) {
    const { value, resources: inherited } = waiting.pop()!;
    if (value instanceof PdfRef) {
      if (seen.has(value.number)) continue;
      seen.add(value.number);
    }
    const dict = toDict(document.resolve(value));
    const own = document.getDict(dict, "Resources");
    const resources = own.size > 0 ? own : inherited;
    const kids = document.getList(dict, "Kids");
    if (dict.has("Kids")) for (const kid of kids.toReversed()) waiting.push({ value: kid, resources });
    else if (dict.size > 0) pages.push({ dict, resources });
  }
  return pages;
}

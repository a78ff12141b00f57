/**
 * Makes images smaller, and reads their pixels, on a thread of its own: that takes seconds, and hundreds of megabytes which a decoder in
 * WebAssembly frees only when its thread ends.
 */
import { createRequire } from "node:module";
import type * as Threads from "node:worker_threads";
import type * as Photon from "@silvia-odwyer/photon-node";
import { refuseAborted, unlessAborted } from "./abort.ts";
import { createFileQueue } from "./file-queue.ts";
import type { Orientation } from "./image-orientation.ts";
import { runThread, type ThreadLimits } from "./thread.ts";
import { limitMemory } from "./wasm-memory.ts";

interface ShrinkRequest {
  bytes: Uint8Array;
  /** In pixels. */
  maxSidePixels: number;
  maxBytes: number;
  /** 1 to 100. */
  jpegQuality: number;
  /** The orientation of the pixels; what is made of them has no such remark. */
  orientation: Orientation;
}

interface SampleRequest {
  bytes: Uint8Array;
  /** In pixels, of the copy whose pixels are read. */
  sampleSide: number;
}

interface SmallImage {
  bytes: Uint8Array;
  type: "image/png" | "image/jpeg";
  width: number;
  height: number;
}

export interface ShrinkLimits extends ThreadLimits {
  /** Names the image in messages. */
  path: string;
}

/** A sample is the red, green, blue and alpha of each pixel. */
type Answer = SmallImage | "too large" | { pixels: Uint8Array };

const timeLimitMs = 20_000;
/** A gigabyte for the decoder: twice what an image needs whose header is true. Headers can lie. */
const maxPages = 16_384;

/** Decodes one image at a time in the whole process: two would take twice the memory. */
const decoders = createFileQueue();

/** Undefined when it does not fit, however small it is made. */
export async function shrinkImage(request: ShrinkRequest, limits: ShrinkLimits): Promise<SmallImage | undefined> {
  const image = await decode(request, limits);
  return image === "too large" ? undefined : (image as SmallImage);
}

/** Resolves with the red, green, blue and alpha of the pixels of a copy that is at most `sampleSide` wide and high. */
export async function sampleImage(bytes: Uint8Array, sampleSide: number, limits: ShrinkLimits): Promise<Uint8Array> {
  const answer = await decode({ bytes, sampleSide }, limits);
  return (answer as { pixels: Uint8Array }).pixels;
}

async function decode(request: ShrinkRequest | SampleRequest, limits: ShrinkLimits): Promise<Answer> {
  const answer = decoders.run("decoder", async () => {
    refuseAborted(limits.signal);
    return await runWorker(request, limits);
  });
  return await unlessAborted(answer, limits.signal);
}

async function runWorker(request: ShrinkRequest | SampleRequest, limits: ShrinkLimits): Promise<Answer> {
  const decoder = createRequire(import.meta.url).resolve("@silvia-odwyer/photon-node");
  const seconds = timeLimitMs / 1_000;
  return await runThread<Answer>(
    {
      source: `(${work.toString()})(require, ${limitMemory.toString()})`,
      workerData: { ...request, decoder, maxPages } satisfies WorkerData,
      // Pixels lie outside of the heap.
      maxHeapMb: 128,
      timeLimitMs,
      failedMessage: `${limits.path} is a damaged image: it cannot be decoded.`,
      timeoutMessage: `${limits.path} could not be made smaller within ${seconds} s. Make it smaller first.`,
    },
    limits,
  );
}

interface WorkerData extends Partial<ShrinkRequest>, Partial<SampleRequest> {
  /** The path of the decoder's module. */
  decoder: string;
  /** The limit of the decoder's memory. */
  maxPages: number;
}

/** A global of Node that its types do not have. */
interface WithWebAssembly {
  WebAssembly: { Module: new (bytes: Uint8Array) => object };
}

/**
 * Tries smaller and smaller sizes, as PNG and as JPEG, until one fits. The thread gets this function as text, so it must
 * not use anything from outside of it: neither sources nor a bundle have a file that a thread could load.
 */
function work(load: (name: string) => unknown, limit: typeof limitMemory): void {
  const { parentPort, workerData } = load("node:worker_threads") as typeof Threads;
  const { decoder, maxPages, ...request } = workerData as WorkerData;
  const { WebAssembly } = globalThis as unknown as WithWebAssembly;
  const { Module } = WebAssembly;
  WebAssembly.Module = new Proxy(Module, {
    construct: (_target, [module]: [Uint8Array]) => new Module(limit(module, maxPages)),
  });
  const photon = load(decoder) as typeof Photon;
  const sample = ({ bytes, sampleSide }: SampleRequest): Answer => {
    const original = photon.PhotonImage.new_from_byteslice(bytes);
    const [width, height] = [original.get_width(), original.get_height()];
    const scale = Math.min(1, sampleSide / Math.max(width, height));
    const sides = [width, height].map((pixels) => Math.max(1, Math.round(pixels * scale)));
    const small = scale === 1 ? original : photon.resize(original, sides[0]!, sides[1]!, photon.SamplingFilter.Nearest);
    return { pixels: small.get_raw_pixels() };
  };
  const shrink = ({ bytes, maxSidePixels, maxBytes, jpegQuality, orientation }: ShrinkRequest): Answer => {
    const original = photon.PhotonImage.new_from_byteslice(bytes);
    if (orientation.isMirrored) photon.fliph(original);
    const [fullWidth, fullHeight] = [original.get_width(), original.get_height()];
    for (let side = maxSidePixels; side >= 1; side = Math.floor(side * 0.75)) {
      const scale = Math.min(1, side / Math.max(fullWidth, fullHeight));
      const sides = [fullWidth, fullHeight].map((pixels) => Math.max(1, Math.round(pixels * scale)));
      const resized =
        scale === 1 ? original : photon.resize(original, sides[0]!, sides[1]!, photon.SamplingFilter.Lanczos3);
      const upright = orientation.turn === 0 ? resized : photon.rotate(resized, orientation.turn);
      const size = { width: upright.get_width(), height: upright.get_height() };
      const png = upright.get_bytes();
      if (png.length <= maxBytes) return { bytes: png, type: "image/png", ...size };
      const jpeg = upright.get_bytes_jpeg(jpegQuality);
      if (jpeg.length <= maxBytes) return { bytes: jpeg, type: "image/jpeg", ...size };
      for (const image of new Set([resized, upright])) if (image !== original) image.free();
    }
    return "too large";
  };
  const answer = request.sampleSide === undefined ? shrink(request as ShrinkRequest) : sample(request as SampleRequest);
  parentPort!.postMessage(answer, []);
}

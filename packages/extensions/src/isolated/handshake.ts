/** The first messages of an extension's process: it is ready, gets what to load, and has loaded it or failed. */
import type { Clock } from "@tau/ai";
import { getErrorMessage, untilTimeout } from "@tau/ai/internal";
import type { ExtensionSource } from "../api/extension.ts";
import { describeSlowFactory, maxFactoryMs } from "../load/start-extension.ts";
import type { Manifest } from "./manifest.ts";
import { parseManifest } from "./parse-manifest.ts";
import { ExtensionError } from "../errors.ts";

interface HandshakeParts {
  /** Limits the memory of the process: it has no foreign code yet. */
  limitMemory: () => Promise<void>;
  sendInit: () => void;
  /** Also when it registers something later. */
  onManifest: (manifest: Manifest) => void;
  report: (message: string) => void;
}

/** How long Node may take to start, on a machine that is busy. */
const maxStartMs = 30_000;
/** How often it may register something else; the tools of the session are put together again each time. */
const maxRegistered = 100;
/** The limit of a sentence from a process, in characters. */
export const maxSentenceLength = 2_000;

export class Handshake {
  readonly #parts: HandshakeParts;
  readonly #ready = createDeferred<void>();
  readonly #loaded = createDeferred<Manifest>();
  #isReady = false;
  #registered = 0;

  constructor(parts: HandshakeParts) {
    this.#parts = parts;
    // It may fail before anybody waits.
    this.#loaded.promise.catch(() => undefined);
  }

  receive(message: Record<string, unknown>): void {
    switch (message["type"]) {
      case "ready":
        return void this.#start();
      case "failed":
        return this.fail(toSentence(message["message"]));
      case "loaded":
      case "registered":
        return this.#register(message["manifest"]);
      case "problem":
        return this.#parts.report(toSentence(message["message"]));
    }
  }

  fail(reason: string): void {
    this.#loaded.reject(new ExtensionError("failed", reason));
  }

  /** Rejects with a sentence. */
  async wait(source: ExtensionSource, clock: Clock): Promise<Manifest> {
    const { promise: loaded } = this.#loaded;
    const begun = await untilTimeout(Promise.race([this.#ready.promise, loaded]), maxStartMs, clock);
    if (begun.kind === "timeout")
      throw new ExtensionError("timeout", `Its process did not start within ${maxStartMs / 1_000} seconds.`);
    const outcome = await untilTimeout(loaded, maxFactoryMs, clock);
    if (outcome.kind === "done") return outcome.value;
    throw new ExtensionError("timeout", describeSlowFactory(source));
  }

  async #start(): Promise<void> {
    // Only once: foreign code could say it again.
    if (this.#isReady) return;
    this.#isReady = true;
    try {
      await this.#parts.limitMemory();
      this.#parts.sendInit();
      this.#ready.resolve();
    } catch (error) {
      this.fail(`Its memory could not be limited: ${getErrorMessage(error)}`);
    }
  }

  #register(data: unknown): void {
    if (++this.#registered > maxRegistered) return;
    const manifest = parseManifest(data);
    if (!manifest) return;
    this.#parts.onManifest(manifest);
    this.#loaded.resolve(manifest);
  }
}

const toSentence = (value: unknown): string =>
  typeof value === "string" ? value.slice(0, maxSentenceLength) : "It failed.";

interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: Error): void;
}

function createDeferred<T>(): Deferred<T> {
  let functions!: Omit<Deferred<T>, "promise">;
  const promise = new Promise<T>((resolve, reject) => (functions = { resolve, reject }));
  return { promise, ...functions };
}

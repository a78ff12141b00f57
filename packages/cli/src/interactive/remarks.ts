/** Remarks below the conversation: what the program reports, and why work failed. */
import { getErrorMessage } from "@tau/ai/internal";
import type { Transcript } from "./transcript.ts";

type RemarkColor = "dim" | "warning" | "error";

export class Remarks {
  readonly #transcript: Transcript;
  readonly #requestRender: () => void;
  /** By the code of the notices. */
  readonly #noticeTakers = new Map<string, (message: string) => void>();
  #lastNotice = "";

  constructor(transcript: Transcript, requestRender: () => void) {
    this.#transcript = transcript;
    this.#requestRender = requestRender;
  }

  readonly say = (text: string, color: RemarkColor = "dim"): void => {
    this.#transcript.addRemark(text, color);
    this.#requestRender();
  };

  readonly sayMarkdown = (text: string): void => {
    this.#transcript.addMarkdown(text);
    this.#requestRender();
  };

  /** Runs work that nobody waits for; its failure becomes a remark. */
  readonly run = (work: () => Promise<unknown>): void => void this.guard(work);

  /** Runs a command. Its failure becomes a remark, and the interface continues. */
  async guard(work: () => Promise<unknown>): Promise<void> {
    this.#lastNotice = "";
    await this.report(work);
  }

  /** Runs work beside a command. Its failure becomes a remark, unless a notice has reported the same already. */
  async report(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const message = getErrorMessage(error);
      // A compaction that fails is reported to everyone who follows the session, and to whoever asked for it.
      if (message !== this.#lastNotice) this.say(message, "error");
    }
  }

  /** Gives notices with this code to `take` instead of printing them, until the function that is returned is called. */
  readonly takeNotices = (code: string, take: (message: string) => void): (() => void) => {
    this.#noticeTakers.set(code, take);
    return () => this.#noticeTakers.delete(code);
  };

  notice(code: string, message: string): void {
    const take = this.#noticeTakers.get(code);
    if (take) return take(message);
    this.say(message, "warning");
    this.#lastNotice = message;
  }
}

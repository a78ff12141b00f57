/** The terminal of a job: its screen, who reads what is written to it, and what was written. */
import type { Readable, Writable } from "node:stream";
import type { Clock } from "@tau/ai";
import { sleep } from "@tau/ai/internal";
import type { AccessRequest } from "../../access.ts";
import { ToolsError } from "../../errors.ts";
import { createSafeText } from "../safe-text.ts";
import { findReaders, type Reader } from "./foreground.ts";
import { defaultSize, parseWritten, toApplicationKey, type Written, type WrittenPart } from "./keys.ts";
import { type TerminalState, TerminalRelay } from "./relay.ts";
import { Screen, type TerminalSize } from "./screen.ts";
import { nothingBefore, readWritten, type WrittenBefore } from "./written-code.ts";

interface TerminalOptions {
  readonly stdin: Writable;
  readonly stderr: Readable;
  readonly clock: Clock;
  readonly isInSandbox: boolean;
}

/** The screen is taken as complete after so long without output, and is shown after `maxSettleMs` in any case. */
const quietMs = 200;
const maxSettleMs = 3_000;
const maxReaders = 16;

/** Keys that leave a prompt. They are written whatever it hides. */
const leavingKeys: ReadonlySet<string> = new Set(["ctrl-c", "ctrl-d", "ctrl-z", "ctrl-\\", "esc"]);
const asksForSecret = /(?:pass(?:word|phrase|code)|\bpin\b|\bcode\b|\botp\b|\btoken\b|secret)[^\n]{0,60}[:?>]\s*$/i;

export class Terminal {
  /** Output of the program that opened it, which is not on the screen. */
  readonly rest: Readable;
  readonly #relay: TerminalRelay;
  readonly #screen: Screen;
  readonly #options: TerminalOptions;
  /** Who read when the screen was last shown: what the next call writes is meant for them. */
  #readers: readonly Reader[] = findReaders([]);
  /** By the number of the process that reads. */
  readonly #before = new Map<number, WrittenBefore>();
  #arrivals = 0;

  constructor(options: TerminalOptions) {
    this.#options = options;
    this.#relay = new TerminalRelay(options);
    this.rest = this.#relay.rest;
    this.#screen = new Screen(defaultSize, (text) => this.#relay.reply(text));
  }

  /** Takes what the programs print. */
  push(bytes: Uint8Array): void {
    this.#arrivals++;
    this.#screen.push(bytes);
  }

  /** Lists what a call that writes `text` wants. It is judged for those who read when the screen was last shown. */
  getAccess(text: string): AccessRequest[] {
    const { parts } = parseWritten(text);
    const codes = this.#readers.map((reader) => readWritten(reader, this.#getBefore(reader), parts));
    const doubts = [
      ...codes.map(({ doubt }) => doubt),
      this.#options.isInSandbox ? undefined : "The terminal is not in the sandbox, so each text for it is asked about.",
    ].filter((doubt) => doubt !== undefined);
    const eachTime = doubts.length === 0 ? {} : { eachTime: [...new Set(doubts)].join(" ") };
    const commands = [...new Set(codes.flatMap(({ command }) => command ?? []))];
    if (commands.length > 0)
      return commands.map((command) => ({
        capability: "exec",
        target: { kind: "command", command },
        isForRunning: true,
        ...eachTime,
      }));
    const isLeaving = parts.every((part) => part.kind === "key" && leavingKeys.has(part.name));
    return [
      {
        capability: "exec",
        target: { kind: "name", name: "jobs" },
        isForRunning: true,
        ...(!isLeaving && { risk: "unknown" as const, ...eachTime }),
      },
    ];
  }

  /** Writes text with keys, and waits until the screen stands still. Throws a `ToolsError` for what must not be written. */
  async write(text: string, signal?: AbortSignal): Promise<void> {
    const written = parseWritten(text);
    if (written.size) await this.#resize(written.size);
    if (written.parts.length > 0) await this.#writeParts(written);
    await this.settle(signal);
  }

  /** Waits until the program has drawn its first screen. Before, the shell that starts it would seem to be who reads. */
  async settleFirst(signal?: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const deadline = clock.monotonic() + maxSettleMs;
    while (this.#arrivals === 0 && clock.monotonic() < deadline && !signal?.aborted)
      await sleep(clock, quietMs, signal);
    await this.settle(signal);
  }

  async settle(signal?: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const deadline = clock.monotonic() + maxSettleMs;
    for (let seen = -1; seen !== this.#arrivals && clock.monotonic() < deadline && !signal?.aborted;) {
      seen = this.#arrivals;
      await sleep(clock, quietMs, signal);
    }
    // A terminal that has ended, or whose program does not read, is still shown.
    const state = await this.#relay.query().catch(() => undefined);
    this.#readers = state ? findReaders(state.foreground) : findReaders([]);
  }

  /** The screen, with a line about it. */
  toText(): string {
    const { columns, rows } = this.#screen.size;
    const { row, column } = this.#screen.cursor;
    const programs = [...new Set(this.#readers.map(({ program }) => program))].filter((program) => program !== "?");
    const reading = programs.length > 0 ? `, ${programs.join(" and ")} reads` : "";
    const safe = createSafeText();
    const text = Buffer.concat([safe.push(Buffer.from(this.#screen.toText())), safe.end()]).toString();
    return `[Screen of ${columns}x${rows}, cursor in line ${row + 1}, column ${column + 1}${reading}]\n${text || "(empty)"}`;
  }

  async #resize(size: TerminalSize): Promise<void> {
    this.#screen.resize(size);
    await this.#relay.resize(size);
  }

  async #writeParts({ parts }: Written): Promise<void> {
    const state = await this.#relay.query();
    const isLeaving = parts.every((part) => part.kind === "key" && leavingKeys.has(part.name));
    this.#checkReaders(state, parts);
    if (!isLeaving && this.#hidesInput(state)) throw hidden();
    const bytes = parts.map((part) => (part.kind === "text" ? part.text : this.#toBytes(part.bytes))).join("");
    const { wasWritten } = await (isLeaving ? this.#relay.press(bytes) : this.#relay.write(bytes));
    if (!wasWritten) throw hidden();
    for (const reader of this.#readers) {
      const { after } = readWritten(reader, this.#getBefore(reader), parts);
      this.#before.delete(reader.pid);
      this.#before.set(reader.pid, after);
    }
    for (const pid of [...this.#before.keys()].slice(0, Math.max(0, this.#before.size - maxReaders)))
      this.#before.delete(pid);
  }

  /** Text that was judged for one program must not reach another one that takes it for something else. */
  #checkReaders(state: TerminalState, parts: readonly WrittenPart[]): void {
    const getCommands = (readers: readonly Reader[]) =>
      readers.map((reader) => readWritten(reader, this.#getBefore(reader), parts).command);
    const judged = new Set(getCommands(this.#readers));
    const readers = findReaders(state.foreground);
    const isJudged = getCommands(readers).every((command) => command === undefined || judged.has(command));
    this.#readers = readers;
    if (isJudged) return;
    throw new ToolsError(
      "stale",
      `Another program reads from the terminal now, so nothing was written. Write again if it is meant for that.\n\n${this.toText()}`,
    );
  }

  /** Whether a program asks for a secret: it hides what is typed, or it says so where it reads key by key. */
  #hidesInput({ echoes, isCanonical }: TerminalState): boolean {
    if (echoes) return false;
    const isOther = this.#readers.some((reader) => reader.kind === "shell" && !reader.isKnown);
    return isCanonical || (isOther && asksForSecret.test(this.#screen.getPrompt()));
  }

  #toBytes(key: string): string {
    return this.#screen.usesApplicationKeys ? toApplicationKey(key) : key;
  }

  #getBefore({ pid }: Reader): WrittenBefore {
    return this.#before.get(pid) ?? nothingBefore;
  }
}

const hidden = () =>
  new ToolsError(
    "denied",
    "The program hides what is typed, as for a password, so nothing was written. Secrets are not for this terminal: leave the prompt with <ctrl-c>, and ask the user to run the command, or to configure it so that it needs no secret.",
  );

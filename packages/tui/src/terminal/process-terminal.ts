/** The terminal that the process runs in. */
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { StdinBuffer } from "../keys/stdin-buffer.ts";
import { KeyboardProtocol } from "./keyboard-protocol.ts";
import type { Terminal } from "./terminal.ts";
import { EscapeCommands } from "./escape-commands.ts";

const pasteOn = "\x1b[?2004h";
const pasteOff = "\x1b[?2004l";
const progressOn = "\x1b]9;4;3\x07";
const progressOff = "\x1b]9;4;0\x07";

const escape = "\x1b";
/** tmux holds Escape back for half a second, and passes a second one on together with it. */
const twoEscapes = escape + escape;

/** Terminals take progress that is not repeated for a program that died. */
const progressIntervalMs = 1_000;

/** A terminal that has not answered by then never does. */
const answerWaitMs = 1_000;

/** How long Escape alone waits: an Alt key is Escape and a character, which a network can tear apart. */
export function resolveEscapeTimeoutMs(env: NodeJS.ProcessEnv = process.env): number {
  const timeoutMs = Number(env["PI_TUI_ESC_TIMEOUT"]);
  if (timeoutMs > 0) return timeoutMs;
  return env["SSH_CONNECTION"] || env["SSH_TTY"] ? 100 : 10;
}

export interface ProcessTerminalOptions {
  /** How long Escape alone waits. Default: by `PI_TUI_ESC_TIMEOUT`, else 10 ms, over ssh 100 ms. */
  escapeTimeoutMs?: number;
  /** Sent with each start: questions to the terminal. Their answers come as input. */
  questions?: string;
  /** Sent with each stop, to undo what `questions` has turned on. */
  farewell?: string;
  /** Called when the terminal has answered all that it answers. */
  onAnswered?: () => void;
  /**
   * Called with what was typed before the first start, with a line feed for each Enter. Default: it comes as input, in which
   * Enter is Ctrl-J, because the terminal was not in raw mode when it was pressed.
   */
  onTypedAhead?: (text: string) => void;
}

/** State from `start` to `stop`. */
interface Session {
  readonly buffer: StdinBuffer;
  readonly keyboard: KeyboardProtocol;
  readonly wasRaw: boolean;
  readonly startedAtMs: number;
  readonly undo: (() => void)[];
  onInput: (data: string) => void;
  lastInputAtMs: number;
  /** Whether the next SIGWINCH says nothing new: Node has emitted "resize" for it, or it is our own. */
  isReported: boolean;
  /** Set while what was typed before the start is read. */
  onTypedAhead?: ((text: string) => void) | undefined;
}

export class ProcessTerminal extends EscapeCommands implements Terminal {
  /** Called once if the terminal goes away: its window was closed, or the connection to it broke. Nothing is written then. */
  onDisconnect: (() => void) | undefined;
  readonly alwaysPullsRows = Boolean(process.env["TMUX"] || process.env["TERM"]?.startsWith("tmux"));
  readonly #options: ProcessTerminalOptions;
  #session: Session | undefined;
  #isLost = false;
  #wasStarted = false;
  #progressTimer: NodeJS.Timeout | undefined;
  readonly #isDumb = process.env["TERM"] === "dumb";
  readonly #logPath = process.env["PI_TUI_WRITE_LOG"];

  constructor(options: ProcessTerminalOptions = {}) {
    super();
    this.#options = options;
  }

  get kittyProtocolActive(): boolean {
    return this.#session?.keyboard.isKitty ?? false;
  }

  get modifyOtherKeysActive(): boolean {
    return this.#session?.keyboard.isOtherKeys ?? false;
  }

  get columns(): number {
    return process.stdout.columns || Number(process.env["COLUMNS"]) || 80;
  }

  get rows(): number {
    return process.stdout.rows || Number(process.env["LINES"]) || 24;
  }

  start(onInput: (data: string) => void, onResize: () => void): void {
    this.stop();
    this.#isLost = false;
    const { stdin, stdout } = process;
    const keyboard = new KeyboardProtocol((data) => this.write(data));
    keyboard.onAnswered = this.#options.onAnswered;
    const startedAtMs = performance.now();
    const escapeTimeout = this.#options.escapeTimeoutMs ?? resolveEscapeTimeoutMs();
    const isAnswerExpected = () => keyboard.isWaiting && performance.now() < startedAtMs + answerWaitMs;
    const session: Session = {
      buffer: new StdinBuffer({ escapeTimeout, isAnswerExpected }),
      keyboard,
      wasRaw: stdin.isRaw ?? false,
      startedAtMs,
      undo: [],
      onInput,
      lastInputAtMs: 0,
      isReported: false,
    };
    this.#session = session;
    const listen = (target: NodeJS.EventEmitter, event: string, listener: (...values: never[]) => void) => {
      target.on(event, listener as () => void);
      session.undo.push(() => target.off(event, listener as () => void));
    };

    session.buffer.on("data", (data) => {
      if (session.keyboard.takeAnswer(data)) return;
      for (const key of data === twoEscapes ? [escape, escape] : [data]) session.onInput(key);
    });
    session.buffer.on("paste", (text) => session.onInput(`\x1b[200~${text}\x1b[201~`));
    listen(stdin, "data", (data: string | Buffer) => {
      session.lastInputAtMs = performance.now();
      const rest = takeTypedAhead(session, data);
      if (rest.length > 0) session.buffer.process(rest);
    });
    listen(stdin, "end", () => this.#lose());
    listen(stdin, "error", (error: Error) => this.#handleError(error));
    listen(stdout, "error", (error: Error) => this.#handleError(error));
    listen(stdout, "resize", () => {
      session.isReported = true;
      onResize();
    });
    // If the size changed and changed back before Node looks, Node emits nothing, but the screen is not as it was.
    if (process.platform !== "win32") {
      listen(process, "SIGWINCH", () => {
        if (!session.isReported) onResize();
        session.isReported = false;
      });
    }
    // A program that ends without `stop` must not leave a shell in which Enter writes numbers.
    listen(process, "exit", () => this.stop());
    // Output that is under way can fail after `stop`, and an error without a listener would end the process.
    if (!stdout.listeners("error").includes(ignoreLostTerminal)) stdout.on("error", ignoreLostTerminal);

    if (!this.#wasStarted && stdin.isTTY && this.#options.onTypedAhead) {
      session.onTypedAhead = this.#options.onTypedAhead;
      void readPending().then(() => (session.onTypedAhead = undefined));
    }
    this.#wasStarted = true;
    this.#setRawMode(true);
    stdin.resume();
    session.isReported = refreshSize();
    if (this.#isDumb) return;
    this.write(pasteOn);
    if (stdin.isTTY) session.keyboard.ask(this.#options.questions);
  }

  stop(): void {
    const session = this.#session;
    if (!session) return;
    if (this.#progressTimer) this.setProgress(false);
    session.keyboard.restore();
    if (!this.#isDumb) this.write(pasteOff + (this.#options.farewell ?? ""));
    this.#session = undefined;
    for (const undo of session.undo) undo();
    session.buffer.destroy();
    // Without the pause, the process would continue reading keys that are meant for the next program.
    process.stdin.pause();
    this.#setRawMode(session.wasRaw);
  }

  async drainInput(maxMs = 1_000, idleMs = 50): Promise<void> {
    const session = this.#session;
    if (!session) return;
    session.onInput = () => {};
    session.keyboard.restore();
    const startMs = performance.now();
    session.lastInputAtMs = startMs;
    while (!this.#isLost && this.#session === session) {
      // The answers to a question that was just asked are on their way.
      const answerMs = session.keyboard.isWaiting ? session.startedAtMs + maxMs : 0;
      const endMs = Math.min(startMs + maxMs, Math.max(session.lastInputAtMs + idleMs, answerMs));
      const restMs = endMs - performance.now();
      if (restMs <= 0) return;
      await sleep(Math.min(restMs, idleMs));
    }
  }

  override write(data: string): void {
    if (this.#isLost) return;
    process.stdout.write(data);
    if (this.#logPath) appendFileSync(this.#logPath, data);
  }

  override setTitle(title: string): void {
    if (!this.#isDumb) super.setTitle(title);
  }

  setProgress(active: boolean): void {
    clearInterval(this.#progressTimer);
    this.#progressTimer = undefined;
    if (this.#isDumb) return;
    this.write(active ? progressOn : progressOff);
    if (active) this.#progressTimer = setInterval(() => this.write(progressOn), progressIntervalMs).unref();
  }

  #setRawMode(isRaw: boolean): void {
    if (!process.stdin.isTTY) return;
    try {
      process.stdin.setRawMode(isRaw);
    } catch (error) {
      this.#handleError(error);
    }
  }

  #handleError(error: unknown): void {
    ignoreLostTerminal(error);
    this.#lose();
  }

  #lose(): void {
    if (this.#isLost) return;
    this.#isLost = true;
    clearInterval(this.#progressTimer);
    queueMicrotask(() => this.onDisconnect?.());
  }
}

/** Resolves when a stream that is resumed now has emitted what its terminal had. */
async function readPending(): Promise<void> {
  // The first may come before the event loop looks at the terminal, the second not.
  await new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
}

/** Returns what is not typed text: from the first escape sequence on there are keys, and answers of the terminal. */
function takeTypedAhead({ onTypedAhead }: Session, data: string | Buffer): string | Buffer {
  if (!onTypedAhead) return data;
  const escapeIndex = data.indexOf(escape);
  const end = escapeIndex === -1 ? data.length : escapeIndex;
  const text = data.slice(0, end).toString().replaceAll(/\r\n?/g, "\n").replaceAll(controls, "");
  if (text !== "") onTypedAhead(text);
  return data.slice(end);
}

/** The terminal itself has handled most of them; a Ctrl-D is left as a zero byte. */
// oxlint-disable-next-line no-control-regex -- they are removed
const controls = /[\u0000-\u0008\u000b-\u001f\u007f]/g;

/** Errors that reading and writing have when nobody is at the other end any more. */
const lostCodes = new Set(["EIO", "EPIPE", "ENXIO", "ENOTTY", "EBADF", "ECONNRESET"]);

function ignoreLostTerminal(error: unknown): void {
  if (!lostCodes.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
}

/**
 * While the process was stopped, nobody told it of changes. Node asks for the size when this signal comes. Returns whether one was
 * sent.
 */
function refreshSize(): boolean {
  if (process.platform === "win32") return false;
  try {
    return process.kill(process.pid, "SIGWINCH");
  } catch (error) {
    // Some sandboxes forbid signals even to oneself; the size is then as old as before.
    if (["EACCES", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  }
}

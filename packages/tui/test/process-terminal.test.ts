import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type IPty, spawn as spawnPty } from "@lydell/node-pty";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

let directory: string;
let program: string;
const open: IPty[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tau-tui-"));
  program = join(directory, "program.mjs");
  await build({
    entryPoints: [join(import.meta.dirname, "terminal-program.ts")],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
  });
});
afterEach(() => {
  for (const pty of open.splice(0)) pty.kill();
});
afterAll(() => rm(directory, { recursive: true }));

/** The program in a terminal that this test is: it sees all that is written, and types. */
class Screen {
  readonly #pty: IPty;
  output = "";
  exitCode: number | undefined;

  constructor(env: Record<string, string> = {}) {
    this.#pty = spawnPty(process.execPath, [program], {
      cols: 100,
      rows: 30,
      env: { PATH: process.env["PATH"], TERM: "xterm-256color", PI_TUI_ESC_TIMEOUT: "200", ...env },
    });
    open.push(this.#pty);
    this.#pty.onData((data) => (this.output += data));
    this.#pty.onExit(({ exitCode }) => (this.exitCode = exitCode));
  }

  type(data: string): void {
    this.#pty.write(data);
  }

  /** Disconnects, as closing the window does. */
  disconnect(): void {
    (this.#pty as IPty & { destroy(): void }).destroy();
  }

  resize(columns: number, rows: number): void {
    this.#pty.resize(columns, rows);
  }

  get pid(): number {
    return this.#pty.pid;
  }

  get inputs(): string[] {
    return [...this.output.matchAll(/<input "(.*)">/g)].map((match) => match[1] ?? "");
  }
}

async function waitFor(screen: Screen, text: string): Promise<void> {
  await expect.poll(() => screen.output).toContain(text);
}

/** Finds what was written after a text. */
function getAfter(screen: Screen, text: string): string {
  expect(screen.output).toContain(text);
  return screen.output.slice(screen.output.indexOf(text) + text.length).trimStart();
}

async function openScreen(env: Record<string, string> = {}): Promise<Screen> {
  const screen = new Screen(env);
  await waitFor(screen, "<ready raw");
  return screen;
}

test("start turns on raw mode and bracketed paste and asks for Kitty's protocol, and stop undoes all", async () => {
  const screen = await openScreen();
  await waitFor(screen, "<ready raw true 100x30>");
  expect(screen.output).toMatch(/^\x1b\[\?2004h\x1b\[>7u\x1b\[\?u\x1b\[c/);
  screen.type("\x1b[?7u\x1b[?62;4c");
  screen.type("k");
  await waitFor(screen, "<kitty true true other false>");
  screen.type("q");
  await waitFor(screen, "<bye>");
  expect(getAfter(screen, '<input "q">')).toMatch(
    /^\x1b\[<u\x1b\[\?2004l\s+<stopped raw false kitty false>\s+<bye>\s*$/,
  );
  await expect.poll(() => screen.exitCode).toBe(0);
  expect(screen.inputs).toEqual(["k", "q"]);
});

test("a terminal that answers only the second question gets modifyOtherKeys, which stop undoes", async () => {
  for (const answers of ["\x1b[?62c", "\x1b[?0u\x1b[?1;2c"]) {
    const screen = await openScreen();
    screen.type(answers);
    screen.type("k");
    await waitFor(screen, "<kitty false false other true>");
    expect(screen.output).toContain("\x1b[>4;2m");
    screen.type("q");
    await waitFor(screen, "<bye>");
    expect(getAfter(screen, '<input "q">')).toMatch(/^\x1b\[<u\x1b\[>4;0m\x1b\[\?2004l/);
    expect(screen.inputs).toEqual(["k", "q"]);
  }
});

test("two Escapes that come together are two keys, also before another one", async () => {
  const screen = await openScreen();
  screen.type("\x1b[?62c\x1b\x1bq");
  await waitFor(screen, "<bye>");
  expect(screen.inputs).toEqual(["ESC", "ESC", "q"]);
});

test("an answer to an earlier question between the others does not hide Kitty's protocol", async () => {
  const screen = await openScreen();
  screen.type("\x1b[?62c\x1b[?7u\x1b[?62c");
  screen.type("k");
  await waitFor(screen, "<kitty true true other false>");
  expect(screen.output).toContain("\x1b[>4;2m\x1b[>4;0m");
});

test("stop before any answer undoes all, and drainInput before it takes the answers that are on their way", async () => {
  const stopped = await openScreen();
  stopped.type("q");
  await waitFor(stopped, "<bye>");
  expect(getAfter(stopped, '<input "q">')).toMatch(/^\x1b\[<u\x1b\[\?2004l/);

  const drained = await openScreen();
  drained.type("d");
  await waitFor(drained, "\x1b[<u");
  expect(drained.output).not.toContain("<drained>");
  drained.type("\x1b[97;1:3uxyz\x1b[?7u\x1b[?62c");
  await waitFor(drained, "<bye>");
  expect(drained.inputs).toEqual(["d"]);
  expect(getAfter(drained, "<drained>")).toMatch(/^\x1b\[\?2004l\s+<bye>\s*$/);
});

test("keys and pastes come one at a time, Escape alone after its time, and other answers as they are", async () => {
  const screen = await openScreen();
  screen.type("ab\x1b[A\x1b[200~one\rtwo\x1b[201~é\x1b]11;rgb:0/0/0\x07\x1b[6;18;9t");
  await waitFor(screen, "18;9t");
  screen.type("\x1b");
  await waitFor(screen, '<input "ESC">');
  expect(screen.inputs).toEqual([
    "a",
    "b",
    "ESC[A",
    "ESC[200~one\\rtwoESC[201~",
    "é",
    "ESC]11;rgb:0/0/0\\u0007",
    "ESC[6;18;9t",
    "ESC",
  ]);
});

test("a change of the size is reported after it", async () => {
  const screen = await openScreen();
  screen.resize(90, 20);
  await waitFor(screen, "<size 90x20>");
});

test("a change of the size that was undone before the program could see it is reported", async () => {
  const screen = await openScreen();
  screen.resize(90, 20);
  await waitFor(screen, "<size 90x20>");
  process.kill(screen.pid, "SIGWINCH");
  await expect.poll(() => screen.output.split("<size 90x20>")).toHaveLength(3);
  // The signal that a start sends itself is none.
  expect(screen.output).not.toContain("<size 100x30>");
});

test("a program can start again after it stopped", async () => {
  const screen = await openScreen();
  screen.type("r");
  await expect.poll(() => screen.output.split("<ready raw true").length).toBe(3);
  screen.type("\x1b[?7u\x1b[?62c\x1b[?7u\x1b[?62c");
  screen.type("k");
  await waitFor(screen, "<kitty true true other false>");
  expect(screen.inputs).toEqual(["r", "k"]);
});

test("a program that ends or fails without stop leaves the terminal as it was", async () => {
  for (const command of ["x", "c"]) {
    const screen = await openScreen();
    screen.type(command);
    await waitFor(screen, "\x1b[?2004l");
    expect(getAfter(screen, `<input "${command}">`)).toContain("\x1b[<u\x1b[?2004l");
  }
});

test("progress is repeated until stop, and a title has no control characters", async () => {
  const screen = await openScreen();
  screen.type("p");
  await waitFor(screen, "\x1b]0;ab[31mc\x1b\\");
  await expect.poll(() => getAfter(screen, "<progress>")).toContain("\x1b]9;4;3\x07");
  screen.type("q");
  await waitFor(screen, "<bye>");
  expect(getAfter(screen, '<input "q">')).toMatch(/^\x1b\]9;4;0\x07\x1b\[<u\x1b\[\?2004l/);
});

test("a dumb terminal is asked nothing and told nothing", async () => {
  const screen = await openScreen({ TERM: "dumb" });
  screen.type("p");
  await waitFor(screen, "<progress>");
  screen.type("q");
  await waitFor(screen, "<bye>");
  expect(screen.output).not.toContain("\x1b");
});

test("what is written is also in the file that PI_TUI_WRITE_LOG names", async () => {
  const path = join(directory, "write.log");
  const screen = await openScreen({ PI_TUI_WRITE_LOG: path });
  screen.type("q");
  await waitFor(screen, "<bye>");
  expect(await readFile(path, "utf8")).toBe("\x1b[?2004h\x1b[>7u\x1b[?u\x1b[c\x1b[<u\x1b[?2004l");
});

test("input that ends is reported once, and nothing is written any more", async () => {
  const path = join(directory, "end");
  const env = { ...process.env, REPORT: path };
  const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "inherit"], env });
  let output = "";
  child.stdout.on("data", (data: Buffer) => (output += data));
  await expect.poll(() => output).toContain("<ready");
  child.stdin.end("a");
  await expect.poll(() => child.exitCode).toBe(7);
  expect(await readFile(path, "utf8")).toBe("disconnected\nexit 7\n");
  expect(output).toContain('<input "a">');
  expect(output).not.toContain("never written");
});

test("a terminal that goes away or cannot be read is reported once and fails nothing", async () => {
  for (const lose of [(screen: Screen) => screen.disconnect(), (screen: Screen) => screen.type("e")]) {
    const path = join(await mkdtemp(join(directory, "lost-")), "report");
    const screen = await openScreen({ REPORT: path });
    screen.type("p");
    await waitFor(screen, "<progress>");
    lose(screen);
    await expect.poll(() => readFile(path, "utf8").catch(() => "")).toBe("disconnected\nexit 7\n");
  }
});

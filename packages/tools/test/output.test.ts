import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { systemIds } from "@tau/ai";
import { createFakeClock } from "@tau/ai/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nodeFileSystem } from "../src/platform/file-system.ts";
import { cleanEnvironment } from "../src/shell/environment.ts";
import { createLogs } from "../src/shell/log-file.ts";
import { Output } from "../src/shell/output.ts";
import { createSafeText } from "../src/shell/safe-text.ts";
import { createUpdates } from "../src/shell/updates.ts";
import { faultyFileSystem } from "../src/testing/faults.ts";
import { scratch } from "./scratch.ts";

const safe = (...chunks: (string | Uint8Array)[]) => {
  const text = createSafeText();
  return chunks.map((chunk) => text.push(Buffer.from(chunk))).join("") + text.end();
};

// oxlint-disable-next-line no-control-regex -- control characters are what it is about
const dangerous = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u;

/** Bytes that are likelier than chance to begin, fill and end sequences. */
const bytes = fc
  .array(
    fc.oneof(
      fc.constantFrom("\x1b", "\x1b[31m", "\x1b]52;c;", "\x07", "\x1b\\", "\u009b", "\u009d", "\u202e", "\r", "\r\n"),
      fc.constantFrom("\x1bP", "\x1b(B", "ä", "😀", "\u{e0041}", "\u{e0100}", "\ufeff", "\n", "[", "0;"),
      fc.uint8Array({ maxLength: 4 }),
      fc.string(),
    ),
    { maxLength: 12 },
  )
  .map((parts) => Buffer.concat(parts.map((part) => Buffer.from(part))));

describe("safe text", () => {
  test("is the same however the bytes are cut", () => {
    fc.assert(
      fc.property(bytes, fc.array(fc.nat(60)), (all, cuts) => {
        const places = [0, ...cuts.filter((cut) => cut < all.length).sort((a, b) => a - b), all.length];
        const chunks = places.slice(1).map((to, at) => all.subarray(places[at], to));
        expect(safe(...chunks)).toBe(safe(all));
      }),
      { numRuns: 2_000 },
    );
  });

  test("contains nothing that could steer a terminal or a reader", () => {
    fc.assert(
      fc.property(bytes, (all) => {
        expect(safe(all)).not.toMatch(dangerous);
      }),
      { numRuns: 2_000 },
    );
  });

  test("of text without controls is that text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        fc.pre(!dangerous.test(text) && !text.includes("\r"));
        expect(safe(text)).toBe(text);
      }),
    );
  });

  test.each([
    ["colours", "\x1b[1;31mred\x1b[0m", "red"],
    ["a clipboard write", "a\x1b]52;c;ZXZpbA==\x07b", "ab"],
    ["a clipboard write with the long end", "a\x1b]52;c;ZXZpbA==\x1b\\b", "ab"],
    ["a clipboard write in one-character controls", "a\u009d52;c;ZXZpbA==\u009cb", "ab"],
    ["a title that never ends", "\x1b]0;title\nvisible", "\nvisible"],
    ["a cursor movement in a one-character control", "a\u009b2Jb", "ab"],
    ["the choice of a character set", "\x1b(Bx", "x"],
    ["a device string", "\x1bPq#0;2;0\x1b\\x", "x"],
    ["an escape inside an escape", "\x1b\x1b[31mx", "x"],
    ["an escape at the end", "x\x1b", "x"],
    ["Windows line ends", "a\r\nb\r\r\nc", "a\nb\nc"],
    ["a progress bar", "1%\r2%\r", "1%\n2%\n"],
    ["a bell and a NUL", "a\x07b\0c\x7f", "a␇b␀c␡"],
    ["a turned reading direction", "a\u202eb\u2066c", "a<U+202E>b<U+2066>c"],
    ["invisible tag characters", "a\u{e0041}\u{e0042}b", "ab"],
  ])("%s", (_name, given, expected) => {
    expect(safe(given)).toBe(expected);
  });

  test("bytes that are no UTF-8 become replacement characters", () => {
    expect(safe(Uint8Array.of(0x61, 0xff, 0xc3, 0x28, 0xe2, 0x82))).toBe("a\ufffd\ufffd(\ufffd");
  });
});

const logsIn = (directory: string, maxBytes?: number) =>
  createLogs({ fs: nodeFileSystem, ids: systemIds, directory, maxBytes });

const outputOf = async (text: string, logs = logsIn(join(scratch(), "logs"))) => {
  const output = new Output({ logs, name: "test" });
  await output.read(Readable.from(text.match(/[^]{1,7000}/g)?.map((part) => Buffer.from(part)) ?? []), "stdout");
  await output.close();
  return output.snapshot();
};

const numbered = (count: number) => Array.from({ length: count }, (_unused, at) => `line ${at + 1}`).join("\n");

describe("kept output", () => {
  test("short output is shown whole and needs no file", async () => {
    const directory = join(scratch(), "logs");
    expect(await outputOf("one\ntwo\n", logsIn(directory))).toEqual({
      text: "one\ntwo",
      notice: "",
      shownLines: 2,
      totalLines: 2,
      file: undefined,
    });
    expect(existsSync(directory)).toBe(false);
  });

  test("of many lines the last are shown, and the file that holds all is named", async () => {
    const { text, notice, file } = await outputOf(`${numbered(5_000)}\n`);
    expect(text.split("\n")).toEqual(numbered(5_000).split("\n").slice(-2_000));
    expect(notice).toBe(`[Showing lines 3001-5000 of 5000. Full output: ${file}]`);
    expect(readFileSync(file!, "utf8")).toBe(`${numbered(5_000)}\n`);
  });

  test("only whole lines are shown, at most 50 KB of them, and the file holds exactly what was said", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(40_000), { maxLength: 12 }), fc.boolean(), async (lengths, isEnded) => {
        const lines = lengths.map((length, at) => `${at}`.padEnd(length, "ä"));
        const whole = lines.join("\n") + (isEnded && lines.length > 0 ? "\n" : "");
        const { text, notice, totalLines, shownLines, file } = await outputOf(whole);
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(50 * 1024);
        if (file !== undefined) expect(readFileSync(file, "utf8")).toBe(whole);
        if (notice === "") expect(text).toBe(whole.replace(/\n$/, ""));
        else if (shownLines > 0) expect(whole.replace(/\n$/, "").split("\n").slice(-shownLines).join("\n")).toBe(text);
        else expect(whole.replace(/\n$/, "").endsWith(text)).toBe(true);
        expect(totalLines).toBe(whole === "" ? 0 : whole.replace(/\n$/, "").split("\n").length);
      }),
      { numRuns: 30 },
    );
  });

  test("of one endless line the end is shown, and that it is a part", async () => {
    const { text, notice } = await outputOf("x".repeat(300_000));
    expect(text).toBe("x".repeat(50 * 1024));
    expect(notice).toMatch(/^\[Showing the last 50\.0 KB of line 1, which is too long\. Full output: /);
  });

  test("the file is private, has a limit, and says so where it stops", async () => {
    const directory = join(scratch(), "logs");
    const { file, notice } = await outputOf("x".repeat(300_000), logsIn(directory, 100_000));
    expect(readFileSync(file!, "utf8")).toBe(`${"x".repeat(100_000)}\n[Output beyond 97.7 KB was not kept.]\n`);
    expect(notice).toContain(`The beginning of the output is in ${file}`);
    expect(statSync(file!).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(file!)).mode & 0o777).toBe(0o700);
  });

  test("a disk that fails at any call costs the file, never the output", async () => {
    for (let at = 1; ; at++) {
      const fs = faultyFileSystem(nodeFileSystem, { at, code: "ENOSPC" });
      const logs = createLogs({ fs, ids: systemIds, directory: join(scratch(), "logs") });
      const { text, notice, file } = await outputOf(numbered(5_000), logs);
      expect(text).toMatch(/line 5000$/);
      if (fs.calls.length < at) break;
      expect([file, notice]).toEqual([undefined, expect.stringContaining("could not be saved (ENOSPC)")]);
    }
  });
});

describe("live updates", () => {
  test("come at once, then ten times a second, in order, and say which stream", async () => {
    const clock = createFakeClock();
    const seen: string[] = [];
    const updates = createUpdates({
      clock,
      emit: (stream, text) => seen.push(`${clock.monotonic()} ${stream} ${text}`),
    });
    updates.push("stdout", "a");
    updates.push("stdout", "b");
    updates.push("stdout", "c");
    updates.push("stderr", "d");
    await clock.advance(250);
    updates.push("stdout", "e");
    await clock.advance(10);
    updates.push("stdout", "f");
    updates.finish();
    updates.push("stdout", "g");
    expect(seen).toEqual(["0 stdout a", "100 stdout bc", "100 stderr d", "250 stdout e", "260 stdout f"]);
    expect(clock.waiting).toBe(0);
  });

  test("stay small however much comes", async () => {
    const clock = createFakeClock();
    let size = 0;
    const updates = createUpdates({ clock, emit: (_stream, text) => (size += text.length) });
    for (let turn = 0; turn < 1_000; turn++) updates.push("stdout", "x".repeat(65_536));
    updates.finish();
    expect(size).toBeLessThanOrEqual(2 * 16 * 1024);
  });
});

describe("the environment of a command", () => {
  const canary = "canary-5f1c";

  test.each(
    [
      "ANTHROPIC_API_KEY OPENAI_API_KEY GITHUB_TOKEN GH_TOKEN NPM_TOKEN AWS_ACCESS_KEY_ID AWS_SESSION_TOKEN DB_PASSWORD",
      "MY_SECRET_VALUE CLIENT_SECRET PGPASSWORD GOOGLE_APPLICATION_CREDENTIALS SSH_PRIVATE_KEY STRIPE_KEY TOKEN SECRET",
      "npm_config__authToken JWT SESSION_COOKIE SENTRY_DSN SLACK_WEBHOOK_URL AZURE_CLIENT_ID MYSQL_PWD GPG_PASSPHRASE",
      "NGROK_AUTHTOKEN SSHPASS OP_SESSION_me OPENAI_API_KEY1 githubToken ACCESSTOKEN DBPASS HTTP_AUTHORIZATION",
    ].flatMap((names) => names.split(" ")),
  )("has no %s", (name) => {
    expect(Object.values(cleanEnvironment({ [name]: canary }))).not.toContain(canary);
  });

  test("has no address with a password in it", () => {
    const env = cleanEnvironment({ DATABASE_URL: `postgres://me:${canary}@host/db`, HOMEPAGE: "https://host/a:b@c" });
    expect(env["DATABASE_URL"]).toBeUndefined();
    expect(cleanEnvironment({ REMOTE: `https://${canary}@host/x` })["REMOTE"]).toBeUndefined();
    expect(env["HOMEPAGE"]).toBe("https://host/a:b@c");
  });

  test("runs nothing before the command", () => {
    const env = cleanEnvironment({ BASH_ENV: "x", ENV: "x", "BASH_FUNC_ls%%": "() { x; }", PROMPT_COMMAND: "x" });
    expect(Object.values(env)).not.toContain("x");
    expect(Object.keys(env)).not.toContain("BASH_FUNC_ls%%");
  });

  test("keeps what programs need, and asks for plain output", () => {
    const needed = { PATH: "/bin", HOME: "/home/me", LANG: "C.UTF-8", PWD: "/", SSH_AUTH_SOCK: "/s", KEYBOARD: "de" };
    expect(cleanEnvironment({ ...needed, TERM: "xterm", CI: "1", FORCE_COLOR: "1", GONE: undefined })).toEqual({
      ...needed,
      TERM: "dumb",
      NO_COLOR: "1",
      PAGER: "cat",
      GIT_PAGER: "cat",
      MANPAGER: "cat",
      GIT_TERMINAL_PROMPT: "0",
    });
  });
});

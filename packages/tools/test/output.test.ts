import {
  chmodSync,
  existsSync,
  lutimesSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { systemClock, systemIds } from "@tau/ai";
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
  return chunks.map((chunk) => text.push(Buffer.from(chunk)).toString()).join("") + text.end().toString();
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
  test("that is plain already is not copied", () => {
    const plain = Buffer.from("lines\nof größer text – and 😀\n".repeat(100));
    const text = createSafeText().push(plain);
    expect(text.equals(plain)).toBe(true);
    expect([text.buffer === plain.buffer, text.byteOffset]).toEqual([true, plain.byteOffset]);
  });

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

  test("a long row of any character is as complete as a short one", () => {
    const codes = [
      ...Array.from({ length: 0x3000 }, (_unused, code) => code),
      0xe0000,
      0xe0041,
      0xe007f,
      0xfeff,
      0x1f600,
    ];
    // Those that begin a sequence take along what follows, and line ends are counted elsewhere.
    const begins = new Set([0x0d, 0x1b, 0x90, 0x98, 0x9b, 0x9d, 0x9e, 0x9f]);
    for (const code of codes.filter((one) => !begins.has(one))) {
      const character = String.fromCodePoint(code);
      expect(safe(`${character.repeat(64)}end`)).toBe(`${safe(character).repeat(64)}end`);
    }
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

  test("bytes are decoded as the platform does it, wherever they are cut", () => {
    const parts = fc.oneof(
      fc.uint8Array({ min: 0x80, max: 0xff, maxLength: 5 }),
      fc
        .constantFrom("\ud7ff", "\ue000", "\uffff", "\u{10000}", "\u{10ffff}", "\u07ff", "\u0800", "a")
        .map((text) => Uint8Array.from(Buffer.from(text))),
      fc
        .constantFrom([0xed, 0xa0, 0x80], [0xc0, 0x80], [0xe0, 0x9f, 0xbf], [0xf4, 0x90, 0x80, 0x80])
        .map((raw) => Uint8Array.from(raw)),
    );
    fc.assert(
      fc.property(fc.array(parts), fc.nat(8), (pieces, cut) => {
        const all = Buffer.concat(pieces);
        const expected = new TextDecoder("utf-8", { ignoreBOM: true }).decode(all);
        // What is made safe besides is another law.
        fc.pre(!dangerous.test(expected));
        expect(safe(all.subarray(0, cut), all.subarray(cut))).toBe(expected);
      }),
      { numRuns: 5_000 },
    );
  });
});

const logsIn = (directory: string, maxBytes?: number) =>
  createLogs({ fs: nodeFileSystem, ids: systemIds, clock: systemClock, directory, maxBytes });

const getOutput = async (text: string, logs = logsIn(join(scratch(), "logs"))) => {
  const output = new Output({ logs, name: "test" });
  await output.read(Readable.from(text.match(/[^]{1,7000}/g)?.map((part) => Buffer.from(part)) ?? []), "stdout");
  await output.close();
  const { kept } = output;
  return { ...output.snapshot(), kept, file: kept && "file" in kept ? kept.file : undefined };
};

const numbered = (count: number) => Array.from({ length: count }, (_unused, at) => `line ${at + 1}`).join("\n");

describe("kept output", () => {
  test("short output is shown whole and needs no file", async () => {
    const directory = join(scratch(), "logs");
    expect(await getOutput("one\ntwo\n", logsIn(directory))).toEqual({
      text: "one\ntwo",
      outputLength: 7,
      notice: "",
      shownLines: 2,
      totalLines: 2,
      kept: undefined,
      file: undefined,
    });
    expect(existsSync(directory)).toBe(false);
  });

  test("the pieces of a stream are left as they are, and all of them are kept", async () => {
    const pieces = Array.from({ length: 20 }, (_unused, index) => Buffer.alloc(7_000, 97 + index));
    const all = Buffer.concat(pieces);
    const output = new Output({ logs: logsIn(join(scratch(), "logs")), name: "test" });
    await output.read(Readable.from(pieces), "stdout");
    await output.close();
    expect(Buffer.concat(pieces).equals(all)).toBe(true);
    expect(readFileSync((output.kept as { file: string }).file).equals(all)).toBe(true);
    expect(output.snapshot().text).toBe(all.toString().slice(-50 * 1024));
  });

  test("of many lines the last are shown, and the file that holds all is named", async () => {
    const { text, notice, file } = await getOutput(`${numbered(5_000)}\n`);
    expect(text.split("\n")).toEqual(numbered(5_000).split("\n").slice(-2_000));
    expect(notice).toBe(`[Showing lines 3001-5000 of 5000. Full output: ${file}]`);
    expect(readFileSync(file!, "utf8")).toBe(`${numbered(5_000)}\n`);
  });

  test("only whole lines are shown, at most 50 KB of them, and the file holds exactly what was said", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(40_000), { maxLength: 12 }), fc.boolean(), async (lengths, isEnded) => {
        const lines = lengths.map((length, at) => `${at}`.padEnd(length, "ä"));
        const whole = lines.join("\n") + (isEnded && lines.length > 0 ? "\n" : "");
        const { text, notice, totalLines, shownLines, file } = await getOutput(whole);
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
    const { text, notice } = await getOutput("x".repeat(300_000));
    expect(text).toBe("x".repeat(50 * 1024));
    expect(notice).toMatch(/^\[Showing the last 50\.0 KB of line 1, which is too long\. Full output: /);
  });

  test("the file is private, has a limit, and says so where it stops", async () => {
    const directory = join(scratch(), "logs");
    const { file, notice } = await getOutput("x".repeat(300_000), logsIn(directory, 100_000));
    expect(readFileSync(file!, "utf8")).toBe(`${"x".repeat(100_000)}\n[Output beyond 97.7 KB was not kept.]\n`);
    expect(notice).toContain(`The beginning of the output is in ${file}`);
    expect(statSync(file!).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(file!)).mode & 0o777).toBe(0o700);
  });

  test.each([
    [99_999, undefined],
    [100_000, undefined],
    [100_001, "beginning"],
  ])("with a limit of 100,000 bytes, %i bytes have %j in the file", async (size, expected) => {
    const { file, notice } = await getOutput("x".repeat(size), logsIn(join(scratch(), "logs"), 100_000));
    const ending = expected ? "\n[Output beyond 97.7 KB was not kept.]\n" : "";
    expect(readFileSync(file!, "utf8")).toBe("x".repeat(Math.min(size, 100_000)) + ending);
    expect(notice).toContain(expected ? `The beginning of the output is in ${file}` : `Full output: ${file}`);
  });

  test("the limit of the file never cuts a code point", async () => {
    for (const limit of [59_997, 59_998, 59_999, 60_000]) {
      const { file } = await getOutput("ä€😀".repeat(10_000), logsIn(join(scratch(), "logs"), limit));
      const kept = readFileSync(file!, "utf8");
      expect(kept).not.toContain("\ufffd");
      expect("ä€😀".repeat(10_000).startsWith(kept.slice(0, kept.indexOf("\n")))).toBe(true);
      expect(Buffer.byteLength(kept.slice(0, kept.indexOf("\n")))).toBeGreaterThan(limit - 4);
    }
  });

  test.each([
    ["1,999 lines", numbered(1_999), true],
    ["2,000 lines", numbered(2_000), true],
    ["2,000 lines and a line feed", `${numbered(2_000)}\n`, true],
    ["2,001 lines", numbered(2_001), false],
    ["2,001 empty lines", "\n".repeat(2_001), false],
    ["50 KB less one byte", "x".repeat(51_199), true],
    ["50 KB", "x".repeat(51_200), true],
    ["50 KB and a line feed", `${"x".repeat(51_200)}\n`, true],
    ["50 KB and one byte", "x".repeat(51_201), false],
    ["50 KB and one byte in lines", `x\n${"x".repeat(51_199)}`, false],
  ])("%s: whole without a file, or cut with one", async (_name, whole, isWhole) => {
    const { text, notice, file } = await getOutput(whole);
    expect([notice === "", file === undefined]).toEqual([isWhole, isWhole]);
    if (isWhole) expect(text).toBe(whole.replace(/\n$/, ""));
    else expect(readFileSync(file!, "utf8")).toBe(whole);
  });

  test("a disk that fails at any call costs the file, never the output", async () => {
    for (let at = 1; ; at++) {
      const fs = faultyFileSystem(nodeFileSystem, { at, code: "ENOSPC" });
      const directory = join(scratch(), "logs");
      const logs = createLogs({ fs, ids: systemIds, clock: systemClock, directory });
      const { text, notice, kept } = await getOutput(numbered(5_000), logs);
      expect(text).toMatch(/line 5000$/);
      if (fs.calls.length < at) break;
      expect(kept).toEqual({ failure: "ENOSPC" });
      expect(notice).toContain("The full output is not kept (ENOSPC).");
      expect(existsSync(directory) ? readdirSync(directory) : []).toEqual([]);
    }
  });
});

describe("files among the temporary ones", () => {
  const inTemporary = async (directory: string, work: () => Promise<void>) => {
    const before = process.env["TMPDIR"];
    process.env["TMPDIR"] = directory;
    try {
      await work();
    } finally {
      if (before === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = before;
    }
  };
  const logs = (maxTotalBytes?: number) =>
    createLogs({ fs: nodeFileSystem, ids: systemIds, clock: systemClock, maxTotalBytes });

  test("have a limit together: the oldest are removed, but none that is still written", async () => {
    const directory = scratch();
    await inTemporary(directory, async () => {
      const text = numbered(5_000);
      const own = logs(2 * text.length);
      const open = await own.open("job");
      await open.write(Buffer.from(text));
      const files = [];
      for (let count = 0; count < 4; count++) files.push((await getOutput(text, own)).file!);
      expect(files.map((file) => existsSync(file))).toEqual([false, false, true, true]);
      await open.close();
      expect([open.path, ...files].map((file) => existsSync(file))).toEqual([true, false, false, false, true]);
      await own.remove();
      expect(readdirSync(directory)).toEqual([]);
    });
  });

  test("are private, and gone when the session ends", async () => {
    const directory = scratch();
    await inTemporary(directory, async () => {
      const own = logs();
      const { file } = await getOutput(numbered(5_000), own);
      expect([dirname(file!), statSync(file!).mode & 0o777]).toEqual([directory, 0o600]);
      await own.remove();
      expect(readdirSync(directory)).toEqual([]);
    });
  });

  test("stay where the directory was given", async () => {
    const directory = join(scratch(), "logs");
    const own = logsIn(directory);
    const { file } = await getOutput(numbered(5_000), own);
    await own.remove();
    expect(existsSync(file!)).toBe(true);
  });

  test("are removed when the process that made them is long dead, and only then", async () => {
    const directory = scratch();
    const dead = spawnSync("true").pid;
    const daysAgo = (days: number) => Date.now() / 1_000 - days * 24 * 3_600;
    const put = (name: string, days: number, mode = 0o600) => {
      writeFileSync(join(directory, name), "x");
      chmodSync(join(directory, name), mode);
      utimesSync(join(directory, name), daysAgo(days), daysAgo(days));
    };
    put(`tau-${dead}-bash-old.log`, 4);
    put(`tau-${dead}-job-old.log`, 400);
    put(`tau-${dead}-bash-young.log`, 2);
    put(`tau-${process.pid}-bash-of-the-living.log`, 4);
    put(`tau-${dead}-bash-shared.log`, 4, 0o644);
    put(`tau-${dead}-bash-other.txt`, 4);
    put("tau-notes.log", 4);
    const pipe = join(directory, `tau-${dead}-bash-pipe.log`);
    spawnSync("mkfifo", ["-m", "600", pipe]);
    utimesSync(pipe, daysAgo(4), daysAgo(4));
    symlinkSync("tau-notes.log", join(directory, `tau-${dead}-bash-link.log`));
    lutimesSync(join(directory, `tau-${dead}-bash-link.log`), daysAgo(4), daysAgo(4));
    await inTemporary(directory, async () => {
      const own = logs();
      await getOutput(numbered(5_000), own);
      await own.remove();
    });
    expect(
      readdirSync(directory)
        .map((name) => name.replace(String(dead), "DEAD"))
        .sort(),
    ).toEqual(
      [
        "tau-DEAD-bash-link.log",
        "tau-DEAD-bash-other.txt",
        "tau-DEAD-bash-pipe.log",
        "tau-DEAD-bash-shared.log",
        "tau-DEAD-bash-young.log",
        `tau-${process.pid}-bash-of-the-living.log`,
        "tau-notes.log",
      ].sort(),
    );
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
    const push = (stream: "stdout" | "stderr", text: string) => updates.push(stream, Buffer.from(text));
    push("stdout", "a");
    push("stdout", "b");
    push("stdout", "c");
    push("stderr", "d");
    await clock.advance(250);
    push("stdout", "e");
    await clock.advance(10);
    push("stdout", "f");
    updates.finish();
    push("stdout", "g");
    expect(seen).toEqual(["0 stdout a", "100 stdout bc", "100 stderr d", "250 stdout e", "260 stdout f"]);
    expect(clock.waiting).toBe(0);
  });

  test("stay small however much comes", async () => {
    const clock = createFakeClock();
    let size = 0;
    const updates = createUpdates({ clock, emit: (_stream, text) => (size += text.length) });
    for (let turn = 0; turn < 1_000; turn++) updates.push("stdout", Buffer.alloc(65_536, "x"));
    updates.finish();
    expect(size).toBeLessThanOrEqual(2 * 16 * 1024);
  });

  test("never cut a code point, and are the end of what came", () => {
    const piece = fc
      .tuple(fc.constantFrom("a", "ä", "€", "😀"), fc.nat(9_000))
      .map(([unit, times]) => unit.repeat(times));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
        const clock = createFakeClock();
        const seen: string[] = [];
        const updates = createUpdates({ clock, emit: (_stream, text) => seen.push(text) });
        updates.push("stdout", Buffer.from("begin"));
        for (const text of pieces) updates.push("stdout", Buffer.from(text));
        updates.finish();
        const [first, rest = ""] = seen;
        expect(first).toBe("begin");
        expect(rest).not.toContain("\ufffd");
        const whole = pieces.join("");
        expect(whole.endsWith(rest)).toBe(true);
        expect(Buffer.byteLength(rest)).toBeLessThanOrEqual(16 * 1024);
        expect(Buffer.byteLength(rest)).toBeGreaterThan(Math.min(Buffer.byteLength(whole), 16 * 1024) - 4);
      }),
    );
  });

  test.each([
    [
      "throws",
      () => {
        throw new Error("broken");
      },
    ],
    ["rejects", () => Promise.reject(new Error("broken"))],
  ])("stop for a listener that %s, without harm", async (_name, fail) => {
    const clock = createFakeClock();
    let calls = 0;
    const updates = createUpdates({ clock, emit: () => (calls++, fail()) });
    for (let turn = 0; turn < 3; turn++) {
      updates.push("stdout", Buffer.from("x"));
      await clock.advance(200);
    }
    updates.finish();
    expect([calls, updates.failure]).toEqual([1, "Error: broken"]);
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

  test.each([
    `Server=db;User Id=sa;Password=${canary};`,
    `Data Source=db; Pwd = "${canary}"`,
    `host=db user=me password=${canary} sslmode=require`,
    `jdbc:mysql://db/app?user=me&password=${canary}`,
    `jdbc:oracle:thin:me/${canary}@//db:1521/app`,
    `DefaultEndpointsProtocol=https;AccountName=me;AccountKey=${canary}`,
    `Endpoint=sb://me.example/;SharedAccessKeyName=root;SharedAccessKey=${canary}`,
    `redis://:${canary}@cache:6379/0`,
    `amqps://me:${canary}@queue/vhost`,
  ])("has no connection with a password in it, whatever its name: %s", (value) => {
    expect(cleanEnvironment({ CONN: value, EDITOR: "vi" })).toMatchObject({ EDITOR: "vi" });
    expect(cleanEnvironment({ CONN: value })["CONN"]).toBeUndefined();
  });

  test("has connections without a password, and words that look like one", () => {
    const env = {
      CONN: "Server=db;Integrated Security=true;Password=;",
      JDBC: "jdbc:postgresql://db/app?user=me&sslmode=require",
      OPTIONS: "--compass=north --pwdless=yes",
      LESS: "-R --prompt=password:",
    };
    expect(cleanEnvironment(env)).toMatchObject(env);
  });

  test("a long value takes no longer than its length", () => {
    const before = process.cpuUsage();
    expect(cleanEnvironment({ HEX: "a".repeat(100_000) })["HEX"]).toHaveLength(100_000);
    expect(cleanEnvironment({ PASSES: "pass ".repeat(20_000) })["PASSES"]).toHaveLength(100_000);
    expect(cleanEnvironment({ THIN: ":thin:x".repeat(20_000) })["THIN"]).toHaveLength(140_000);
    const { user } = process.cpuUsage(before);
    // In microseconds. It was 20 s.
    expect(user).toBeLessThan(1_000_000);
  });

  test.each([
    "sk-ant-api03-0123456789abcdef",
    "ghp_0123456789abcdefghij",
    "AKIA0123456789ABCDEF",
    "token is xoxb-0123456789-abc",
    "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc",
  ])("has no variable with a value that looks like a key, whatever its name: %s", (value) => {
    expect(cleanEnvironment({ HARMLESS: value, EDITOR: "vi" })).toMatchObject({ EDITOR: "vi" });
    expect(cleanEnvironment({ HARMLESS: value })["HARMLESS"]).toBeUndefined();
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

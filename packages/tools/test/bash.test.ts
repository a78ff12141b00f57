import { spawn as nodeSpawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createSpawn, type ExitStatus, type Spawn } from "../src/platform/spawn.ts";
import { createBashTool } from "../src/shell/bash.ts";
import { describeStatus } from "../src/shell/command.ts";
import { decideShell } from "../src/shell/interpreter.ts";
import { createJobs } from "../src/shell/jobs.ts";
import { findPidNamespace } from "../src/shell/pid-namespace.ts";
import { getMembers, parseStat } from "../src/shell/process-tree.ts";
import { measureGrowth } from "./program.ts";
import { scratch } from "./scratch.ts";
import { containments, holdTimers, processesWith, shell, spawn, uniqueSleep, zombies } from "./shell-kit.ts";

/** A short run has fewer commands and less output. */
const isLong = Boolean(process.env["TAU_LONG"]);

/** Ways for a process to get away from its parent. `@` is where the marker goes. */
const escapes: [string, string][] = [
  ["a plain child", "sleep @ & sleep @"],
  ["a child that ignores TERM", "trap '' TERM; sleep @; sleep @"],
  ["setsid", "setsid sleep @ & sleep @"],
  ["nohup", "nohup sleep @ >/dev/null 2>&1 & sleep @"],
  ["a double fork", "(sleep @ >/dev/null 2>&1 &); sleep @"],
  ["a double fork with setsid", "(setsid sleep @ </dev/null >/dev/null 2>&1 &); sleep @"],
  ["setsid env -i", "setsid env -i sleep @ & sleep @"],
  ["a double fork with setsid env -i", "(setsid env -i sleep @ </dev/null >/dev/null 2>&1 &); sleep @"],
  ["a child that ignores TERM and left", "(trap '' TERM; setsid env -i sleep @ >/dev/null 2>&1 &); sleep @"],
];

describe.each(containments)("with %s", (containment, namespace) => {
  const doubt = containment === "best effort" ? " (best effort: something it started may still run)" : "";
  const fresh = (options: Parameters<typeof shell>[0] = {}) => shell({ ...options, ...(namespace && { namespace }) });

  test("output, and how it was held, are reported", async () => {
    const { text, details } = await fresh().bash("echo one; echo two >&2; echo three");
    expect(text.split("\n").sort()).toEqual(["one", "three", "two"]);
    expect(details).toEqual({ containment, exitCode: 0, shownLines: 3, totalLines: 3, outputLength: text.length });
  });

  test("a command without output is reported as such", async () => {
    const { text, details } = await fresh().bash("true");
    expect([text, details?.outputLength]).toEqual(["(no output)", 0]);
  });

  test("it runs in bash, in the given directory, without an input", async () => {
    const { bash, cwd } = fresh();
    expect((await bash('[[ -n $BASH_VERSION ]] && pwd; cat; echo "$0 $#"')).text).toBe(`${cwd}\nbash 0`);
  });

  test.each([
    ["exit 3", /^Command exited with code 3$/],
    ["echo bad >&2; exit 1", /^bad\n\nCommand exited with code 1$/],
    ["no-such-program-here", /no-such-program-here: command not found\n\nCommand exited with code 127$/],
    ["kill -9 $$", /^Command (was ended by SIGKILL|exited with code 137 \(SIGKILL\))$/],
    ["sleep 0 | false", /^Command exited with code 1$/],
    ["echo 'unclosed", /unexpected EOF[^]*Command exited with code 2$/],
  ])("%j fails with its output and its code, and says where processes may be left", async (command, expected) => {
    const text = await fresh().failure(command);
    expect(text.endsWith(doubt)).toBe(true);
    expect(text.slice(0, text.length - doubt.length)).toMatch(expected);
  });

  test.each(escapes)("an abort ends %s, and everything else", async (_name, command) => {
    const { failure, jobs } = fresh();
    const marker = uniqueSleep();
    const abort = new AbortController();
    const result = failure(command.replaceAll("@", marker), abort.signal);
    const expected = command.includes("&") ? 2 : 1;
    await expect.poll(() => processesWith(marker)).toHaveLength(expected);
    abort.abort();
    expect(await result).toBe(`Command aborted${doubt}`);
    expect(processesWith(marker)).toEqual([]);
    await expect.poll(zombies).toEqual([]);
    await jobs.dispose();
  });

  test.each(escapes)("a timeout ends %s, and everything else", async (_name, command) => {
    const marker = uniqueSleep();
    const { clock, fire } = holdTimers((afterMs) => afterMs === 600);
    const { failure } = fresh({ clock });
    const result = failure({ command: `echo begun; ${command.replaceAll("@", marker)}`, timeout: 0.6 });
    await expect.poll(() => processesWith(marker)).toHaveLength(command.includes("&") ? 2 : 1);
    fire();
    expect(await result).toBe(`begun\n\nCommand timed out after 0.6 seconds and was ended${doubt}`);
    expect(processesWith(marker)).toEqual([]);
    await expect.poll(zombies).toEqual([]);
  });

  test("a program that is asked to end may tidy up", async () => {
    // The time limit, and the time that is left to tidy up.
    const { clock, fire } = holdTimers((afterMs) => afterMs > 300 && afterMs <= 800);
    const { failure, cwd } = fresh({ clock });
    const command = "trap 'sleep 0.1; echo tidy > done; exit' TERM; touch ready; while :; do sleep 0.02; done";
    const result = failure({ command, timeout: 0.8 });
    await expect.poll(() => existsSync(join(cwd, "ready"))).toBe(true);
    fire();
    expect(await result).toMatch(/timed out/);
    expect(readFileSync(join(cwd, "done"), "utf8")).toBe("tidy\n");
  });

  test("a grandchild that holds the output does not hold the call, and does not stay", async () => {
    const marker = uniqueSleep();
    const { text, details } = await fresh().bash(`setsid sleep ${marker} & echo done`);
    expect(text.endsWith(`with background.]${doubt}`)).toBe(true);
    expect(text).toMatch(/^done\n\[Processes that were still running /);
    expect(details).toMatchObject({ outputLength: "done".length, endedProcesses: true });
    expect(processesWith(marker)).toEqual([]);
  });

  test("a process that finishes right after the command is waited for", async () => {
    // A tenth of a second may be too short on a busy machine, so once is enough.
    const { bash } = fresh();
    await expect.poll(async () => (await bash("echo late > >(sleep 0.05; cat)")).text).toBe("late");
  });

  test("endless output ends with its time, and the end of it is shown", async () => {
    const { clock, fire } = holdTimers((afterMs) => afterMs === 550);
    const { failure, updates } = fresh({ clock });
    const result = failure({ command: "yes", timeout: 0.55 });
    await expect.poll(() => updates.length).toBeGreaterThan(1);
    fire();
    expect(await result).toMatch(
      /^(y\n){2000}\n\[Showing lines \d+-\d+ of \d+\. .*\]\n\nCommand timed out after 0\.55 seconds/,
    );
  });

  test("a loop that stalls loses nothing of the output", async () => {
    const stall = setInterval(() => {
      for (const until = performance.now() + 150; performance.now() < until;);
    }, 1);
    try {
      const { text, details } = await fresh().bash("seq 1 20000");
      expect(details.totalLines).toBe(20_000);
      expect(text).toMatch(/\n20000\n\n\[Showing lines 18001-20000 of 20000\./);
    } finally {
      clearInterval(stall);
    }
  });

  test("a shell whose -c takes the next argument runs the command", async () => {
    const path = join(scratch(), "fish");
    writeFileSync(path, `#!/bin/sh\n[ "$1" = -c ] && exec sh -c "$2" || exit 125\n`, { mode: 0o755 });
    expect((await shell({ shell: path }).bash("echo hi")).text).toBe("hi");
  });

  test("a command may begin with a dash", async () => {
    expect(await fresh().failure("-l")).toMatch(/-l: command not found.*code 127/s);
  });

  test("a command longer than one argument may be runs like a short one", async () => {
    const { bash, failure } = fresh();
    const long = (units: number) => `# ${"ä😀'".repeat(units)}\n`;
    const look = 'cat; printf %s "$IFS" | od -An -c; echo "$# $0 $LINENO ${s-unset}"; ps=(1 2); nosuch';
    const [short, parts] = [await failure(long(1) + look), await failure(long(20_000) + look)];
    expect(parts).toBe(short);
    expect(short).toMatch(
      /\\t +\\n\n0 bash 2 unset\n.*line 2: nosuch: command not found\n\nCommand exited with code 127/,
    );
    expect((await bash(`printf %s '${"€".repeat(300_000)}' | wc -c`)).text.trim()).toBe("900000");
    expect(await failure("exit 3".padEnd(140_000, " "))).toMatch(/^Command exited with code 3/);
  });

  test("a command that takes too much is ended, and the result says what it took", async () => {
    const marker = uniqueSleep();
    const { failure } = shell({ limits: { processes: 16 }, ...(namespace && { namespace }) });
    const text = await failure(`for i in {1..40}; do sleep ${marker} & done; wait`);
    expect(text).toMatch(/^\[The command was ended: it had more than 16 processes at once\.\]\n\nCommand (was|exited)/);
    expect(processesWith(marker)).toEqual([]);
  });

  test("a signal that is aborted already starts nothing", async () => {
    const { failure, cwd } = fresh();
    expect(await failure("touch started", AbortSignal.abort())).toMatch(/aborted/);
    expect(existsSync(join(cwd, "started"))).toBe(false);
  });

  test("many commands leave no process, no zombie and no open file", async () => {
    const { bash } = fresh();
    await bash("true");
    const openFiles = () => readdirSync("/proc/self/fd").length;
    const before = openFiles();
    for (let round = 0; round < (isLong ? 20 : 5); round++)
      await Promise.all(Array.from({ length: 10 }, () => bash("echo x | cat")));
    // Pipes are closed a moment after their process is gone.
    await expect.poll(openFiles).toBeLessThanOrEqual(before);
    await expect.poll(zombies).toEqual([]);
  });
});

describe("output", () => {
  /** The memory that a command with much output takes, after one like it with less. */
  const getGrowth = (directory: string, first: string, second: string) =>
    measureGrowth({
      imports: `
        import { createBashTool } from "../src/shell/bash.ts";
        import { createJobs } from "../src/shell/jobs.ts";
        import { createSpawn } from "../src/platform/spawn.ts";
      `,
      prepare: `
        const [outputDirectory, first, second] = args;
        const jobs = createJobs();
        const tool = createBashTool({ cwd: outputDirectory, spawn: createSpawn(), jobs, outputDirectory });
        await tool.execute("id", { command: first });
      `,
      work: 'await tool.execute("id", { command: second }); await jobs.dispose();',
      args: [directory, first, second],
    });

  /** How much memory the garbage collector may leave for later, however much a command prints. */
  const maxGarbageBytes = 64 * 1024 ** 2;

  test.each([
    ["in one line", "head -c 100M /dev/zero | tr '\\0' x"],
    ["in lines", "yes 0123456789012345678901234567890123456789 | head -c 100M"],
    // Each is shown as a character of three bytes.
    ["of zeros", "head -c 33M /dev/zero"],
  ])("much output %s is not kept in memory", async (_name, command) => {
    const logs = scratch();
    expect(await getGrowth(logs, command.replace(/\d+M/, "8M"), command)).toBeLessThan(maxGarbageBytes);
    const sizes = readdirSync(logs).map((name) => statSync(join(logs, name)).size);
    expect(Math.max(...sizes)).toBeGreaterThan(63 * 1024 ** 2);
    expect(Math.max(...sizes)).toBeLessThan(64 * 1024 ** 2 + 100);
  });

  test.runIf(isLong)("noise is not kept in memory either", async () => {
    const growth = await getGrowth(scratch(), "head -c 1M /dev/urandom", "head -c 100M /dev/urandom");
    expect(growth).toBeLessThan(maxGarbageBytes);
  });

  test.each([
    ["many lines", "yes | head -n 100000; exit 1"],
    ["lines of many bytes", "yes ääääääääääääääääääääääääääääääää | head -c 1M; exit 1"],
    ["one line", "head -c 1M /dev/zero; exit 1"],
    ["empty lines", "yes '' | head -c 1M; exit 1"],
    ["lines around the limit", "yes | head -n 2000; exit 1"],
    ["something left behind", "yes | head -n 3000; setsid sleep 60 & exit 1"],
  ])("a result of %s is as long as it may be, and a little for what is said about it", async (_name, command) => {
    for (const [, namespace] of containments) {
      const text = await shell({ ...(namespace && { namespace }) }).failure(command);
      expect(Buffer.byteLength(text)).toBeLessThan(50 * 1024 + 500);
      expect(text.split("\n").length).toBeLessThanOrEqual(2_000 + 4);
    }
  });

  test("what cannot be kept is said not to be, and why", async () => {
    const cwd = scratch();
    writeFileSync(join(cwd, "file"), "");
    const { text, details } = await shell({ outputDirectory: join(cwd, "file", "logs") }).bash("seq 1 3000");
    expect(text).toMatch(/\n3000\n\n\[Showing lines 1001-3000 of 3000\. The full output is not kept \(ENOTDIR\)\.\]$/);
    expect(details).not.toHaveProperty("outputFile");
  });

  test("a listener that throws harms neither the command nor the output", async () => {
    const tool = createBashTool({ cwd: scratch(), spawn, jobs: createJobs() });
    let calls = 0;
    const result = await tool.execute(
      "id",
      { command: "echo a; sleep 0.25; echo b; sleep 0.25; echo c" },
      undefined,
      () => {
        calls++;
        throw new Error("broken surface");
      },
    );
    expect(result.content).toEqual([{ type: "text", text: "a\nb\nc" }]);
    expect(result.details).toMatchObject({ exitCode: 0, updateFailure: "Error: broken surface" });
    expect(calls).toBe(1);
  });

  test("updates say which stream they come from, and add up to the output", async () => {
    const { bash, updates, cwd } = shell();
    const waitFor = (name: string) => `until [ -e ${name} ]; do sleep 0.02; done`;
    const result = bash(`echo out; ${waitFor("first")}; echo err >&2; ${waitFor("second")}; echo out again`);
    for (const [index, name] of ["first", "second"].entries()) {
      await expect.poll(() => updates.length).toBe(index + 1);
      writeFileSync(join(cwd, name), "");
    }
    await result;
    expect(updates.map(({ updateType, content }) => [updateType, content[0]])).toEqual([
      ["stdout", { type: "text", text: "out\n" }],
      ["stderr", { type: "text", text: "err\n" }],
      ["stdout", { type: "text", text: "out again\n" }],
    ]);
  });

  test("escape sequences and bytes that are no text are made safe", async () => {
    const { text } = await shell().bash(
      String.raw`printf 'a\033]52;c;ZXZpbA==\007b\033[31mc\377\0d\303'; sleep 0.1; printf '\244\n'`,
    );
    expect(text).toBe("abc\ufffd␀dä");
  });
});

describe("the environment", () => {
  test("has no secret, and programs behave as without a terminal", async () => {
    const env = {
      ...process.env,
      ANTHROPIC_API_KEY: "canary-77ab",
      GITHUB_TOKEN: "canary-77ab",
      BASH_ENV: "/canary-77ab",
    };
    for (const [, namespace] of containments) {
      const { text } = await shell({ env, ...(namespace && { namespace }) }).bash("env");
      expect(text).not.toContain("canary-77ab");
      expect(text).toContain("TERM=dumb");
    }
  });
});

const namespace = await findPidNamespace(spawn);

describe("containment", () => {
  test.skipIf(!namespace)("a namespace ends with the process that started it, even if that is killed", async () => {
    const marker = uniqueSleep();
    const argv = [...namespace!.prefix, "bash", "-c", `setsid env -i sleep ${marker} & sleep ${marker}`];
    const script = `require("node:child_process").spawn(${JSON.stringify(argv[0])}, ${JSON.stringify(argv.slice(1))}, { detached: true, stdio: "ignore" }); setInterval(() => {}, 1000)`;
    const parent = nodeSpawn(process.execPath, ["-e", script], { stdio: "ignore" });
    await expect.poll(() => processesWith(marker)).toHaveLength(2);
    parent.kill("SIGKILL");
    await expect.poll(() => processesWith(marker)).toEqual([]);
  });

  test("where the system refuses namespaces, none is found and the result says best effort", async () => {
    const refusing = createSpawn((request) =>
      /unshare|bwrap|setpriv/.test(request.argv.join(" ")) ? { ...request, argv: ["false"] } : request,
    );
    expect((await shell({ spawn: refusing }).bash("echo x")).details.containment).toBe("best effort");
  });

  test.runIf(process.getuid?.() === 0)(
    "root of a container that may make user namespaces only can still give files to other users",
    async () => {
      const container = ["setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin", "--"] as const;
      const inContainer = createSpawn((request) => ({ ...request, argv: [...container, ...request.argv] }));
      const { text } = await shell({ spawn: inContainer }).bash("touch given; chown 1234 given && stat -c %u given");
      expect(text).toContain("1234");
    },
  );

  test("a wrapper may refuse all programs of our own, and the command runs as well as it can", async () => {
    const refused: string[] = [];
    const spawn = createSpawn((request) => {
      if (request.argv.at(-1)?.includes("echo fine")) return request;
      refused.push(request.argv.join(" "));
      throw new Error("not allowed");
    });
    const { bash, failure } = shell({ spawn });
    for (let turn = 0; turn < 2; turn++) {
      const { text, details } = await bash("echo fine");
      expect([text, details.containment]).toEqual(["fine", "best effort"]);
    }
    // Asked once each: bash, two kinds of namespaces, the watchdog.
    expect(refused).toHaveLength(4);
    expect(await failure("echo other")).toBe("not allowed");
  });

  test("a command that no system would take is refused in clear words", async () => {
    const text = await shell().failure("x".repeat(1024 * 1024 + 1));
    expect(text).toBe("The command has 1.0 MB; at most 1.0 MB can be run. Write it to a file and run that.");
    const small = createSpawn(() => Promise.reject(Object.assign(new Error("spawn E2BIG"), { code: "E2BIG" })));
    const namespace = () => Promise.resolve(undefined);
    await shell({ spawn, namespace }).bash("true");
    let isAsked = false;
    const spawnOnce: Spawn = (request) => (isAsked ? small(request) : ((isAsked = true), spawn(request)));
    expect(await shell({ spawn: spawnOnce, namespace }).failure("true")).toMatch(/the system takes less\. Write it/);
  });

  test.each([
    { kind: "failed", message: "spawn bash EAGAIN", code: "EAGAIN" },
    { kind: "exited", code: 1 },
  ] as ExitStatus[])("what may have been a bad moment does not cost bash for ever: %j", async (answer) => {
    let isBad = true;
    const flaky: Spawn = async (request) => {
      const child = await spawn(request);
      return isBad ? { ...child, exit: child.exit.then(() => answer) } : child;
    };
    const { bash, failure } = shell({ spawn: flaky, namespace: () => Promise.resolve(undefined) });
    await failure("true");
    isBad = false;
    expect((await bash('echo "${BASH_VERSION:+bash}"')).text).toBe("bash");
  });

  test("which shell there is, and how sure that is, follows from one attempt", () => {
    const table: [ExitStatus, string, boolean][] = [
      [{ kind: "exited", code: 0 }, "bash", true],
      [{ kind: "exited", code: 127 }, "sh", true],
      [{ kind: "exited", code: 1 }, "sh", false],
      [{ kind: "failed", message: "spawn bash ENOENT", code: "ENOENT" }, "sh", true],
      [{ kind: "failed", message: "spawn bash EMFILE", code: "EMFILE" }, "bash", false],
      [{ kind: "signalled", signal: "SIGKILL" }, "bash", false],
    ];
    for (const [status, shell, isCertain] of table) {
      const decided = decideShell(status);
      expect([decided.shell[0], decided.isCertain]).toEqual([shell, isCertain]);
    }
  });

  test("where there is no bash, sh does it", async () => {
    const without = createSpawn((request) => ({
      ...request,
      argv: request.argv.map((word) => (word === "bash" ? "no-bash-here" : word)) as [string],
    }));
    expect((await shell({ spawn: without }).bash('echo "${BASH_VERSION-none}"')).text).toBe("none");
  });

  test("a directory that does not exist is an error that names what failed", async () => {
    for (const [, namespace] of containments) {
      const cwd = join(scratch(), "gone");
      const { failure } = shell({ cwd, ...(namespace && { namespace }) });
      expect(await failure("true")).toContain(`could not be started in ${cwd}`);
    }
  });

  test("a process belongs to a command by mark, group or parent", () => {
    const createInfo = (pid: number, parent: number, group: number, isMarked = false, isZombie = false) => ({
      pid,
      parent,
      group,
      isMarked,
      isZombie,
    });
    const processes = [
      createInfo(10, 1, 10),
      createInfo(11, 10, 11),
      createInfo(12, 11, 12),
      createInfo(13, 1, 10),
      createInfo(14, 1, 14, true),
      createInfo(15, 14, 15),
      createInfo(16, 1, 16),
      createInfo(17, 10, 10, true, true),
    ];
    expect(getMembers(processes, 10)).toEqual([10, 11, 12, 13, 14, 15]);
  });

  test("a program may call itself anything", () => {
    expect(parseStat("7 (a) Z 1 (x) S 3 4 5 0")).toEqual({ pid: 7, parent: 3, group: 4, isZombie: false });
    expect(parseStat("")).toBeUndefined();
  });

  test("the end of a command is described by its code or signal", () => {
    expect(describeStatus({ kind: "exited", code: 0 }, "/")).toBeUndefined();
    expect(describeStatus({ kind: "exited", code: 143 }, "/")).toBe("Command exited with code 143 (SIGTERM)");
    expect(describeStatus({ kind: "signalled", signal: "SIGSEGV" }, "/")).toBe("Command was ended by SIGSEGV");
  });
});

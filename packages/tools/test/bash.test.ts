import { spawn as nodeSpawn } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createSpawn } from "../src/platform/spawn.ts";
import { verdictOf } from "../src/shell/command.ts";
import { findPidNamespace } from "../src/shell/pid-namespace.ts";
import { membersOf, parseStat } from "../src/shell/process-tree.ts";
import { containments, processesWith, shell, spawn, uniqueSleep, until, zombies } from "./shell-kit.ts";

/** Ways to get away from the one who started you. `@` is where the marker goes. */
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
  const fresh = () => shell({ ...(namespace && { namespace }) });

  test("output, and how it was held, are reported", async () => {
    const { text, details } = await fresh().bash("echo one; echo two >&2; echo three");
    expect(text.split("\n").sort()).toEqual(["one", "three", "two"]);
    expect(details).toEqual({ containment, exitCode: 0, shownLines: 3, totalLines: 3 });
  });

  test("a command that says nothing says so", async () => {
    expect((await fresh().bash("true")).text).toBe("(no output)");
  });

  test("it runs in bash, in the given directory, without an input", async () => {
    const { bash, cwd } = fresh();
    expect((await bash('[[ -n $BASH_VERSION ]] && pwd; cat; echo "$0 $#"')).text).toBe(`${cwd}\nbash 0`);
  });

  test.each([
    ["exit 3", "Command exited with code 3"],
    ["echo bad >&2; exit 1", "bad\n\nCommand exited with code 1"],
    ["no-such-program-here", /no-such-program-here: command not found\n\nCommand exited with code 127$/],
    ["kill -9 $$", /^Command (was ended by SIGKILL|exited with code 137 \(SIGKILL\))$/],
    ["sleep 0 | false", "Command exited with code 1"],
    ["echo 'unclosed", /unexpected EOF[^]*Command exited with code 2$/],
  ])("%j fails with its output and its code", async (command, expected) => {
    const text = await fresh().failure(command);
    if (typeof expected === "string") expect(text).toBe(expected);
    else expect(text).toMatch(expected);
  });

  test.each(escapes)("an abort ends %s, and everything else", async (_name, command) => {
    const { failure, jobs } = fresh();
    const marker = uniqueSleep();
    const abort = new AbortController();
    const result = failure(command.replaceAll("@", marker), abort.signal);
    const expected = command.includes("&") ? 2 : 1;
    await until(() => processesWith(marker).length === expected);
    const started = performance.now();
    abort.abort();
    expect(await result).toBe("Command aborted");
    expect(performance.now() - started).toBeLessThan(2_000);
    expect(processesWith(marker)).toEqual([]);
    expect(zombies()).toEqual([]);
    await jobs.dispose();
  });

  test.each(escapes)("a timeout ends %s, and everything else", async (_name, command) => {
    const marker = uniqueSleep();
    const started = performance.now();
    expect(await fresh().failure({ command: `echo begun; ${command.replaceAll("@", marker)}`, timeout: 0.6 })).toBe(
      "begun\n\nCommand timed out after 0.6 seconds and was ended",
    );
    expect(performance.now() - started).toBeLessThan(2_600);
    expect(processesWith(marker)).toEqual([]);
    expect(zombies()).toEqual([]);
  });

  test("a program that ignores an abort is gone in a fifth of a second", async () => {
    let best = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 3; round++) {
      const marker = uniqueSleep();
      const abort = new AbortController();
      const result = fresh().failure(`trap '' TERM; sleep ${marker}; sleep ${marker}`, abort.signal);
      await until(() => processesWith(marker).length === 1);
      const started = performance.now();
      abort.abort();
      await result;
      best = Math.min(best, performance.now() - started);
      expect(processesWith(marker)).toEqual([]);
    }
    expect(best).toBeLessThan(200);
  });

  test("a program that is asked to end may tidy up", async () => {
    const { failure, cwd } = fresh();
    await failure({
      command: "trap 'sleep 0.1; echo tidy > done; exit' TERM; echo ready; while :; do sleep 0.02; done",
      timeout: 0.8,
    });
    expect(readFileSync(join(cwd, "done"), "utf8")).toBe("tidy\n");
  });

  test("a grandchild that holds the output does not hold the call, and does not stay", async () => {
    const marker = uniqueSleep();
    const started = performance.now();
    const { text } = await fresh().bash(`setsid sleep ${marker} & echo done`);
    expect(performance.now() - started).toBeLessThan(1_500);
    expect(text).toMatch(/^done\n\[Processes that were still running .* with background\.\]$/);
    expect(processesWith(marker)).toEqual([]);
  });

  test("what finishes right after the command is waited for", async () => {
    expect((await fresh().bash("echo late > >(sleep 0.05; cat)")).text).toBe("late");
  });

  test("endless output ends with its time, and the end of it is shown", async () => {
    const text = await fresh().failure({ command: "yes", timeout: 0.5 });
    expect(text).toMatch(/^(y\n){2000}\n\[Showing lines \d+-\d+ of \d+\. .*\]\n\nCommand timed out after 0\.5 seconds/);
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

  test("a command may begin with a dash", async () => {
    expect(await fresh().failure("-l")).toMatch(/-l: command not found.*code 127/s);
  });

  test("a signal that is aborted already starts nothing", async () => {
    const { failure, cwd } = fresh();
    expect(await failure("touch started", AbortSignal.abort())).toMatch(/aborted/);
    expect(existsSync(join(cwd, "started"))).toBe(false);
  });

  test("two hundred commands leave no process, no zombie and no open file", async () => {
    const { bash } = fresh();
    await bash("true");
    const files = () => statSync("/proc/self/fd").nlink;
    const before = files();
    for (let round = 0; round < 20; round++) await Promise.all(Array.from({ length: 10 }, () => bash("echo x | cat")));
    expect(files()).toBe(before);
    expect(zombies()).toEqual([]);
  });
});

describe("output", () => {
  const growth = async (work: () => Promise<unknown>) => {
    globalThis.gc?.();
    const before = process.memoryUsage.rss();
    let peak = before;
    const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 2);
    await work();
    clearInterval(timer);
    return (Math.max(peak, process.memoryUsage.rss()) - before) / 1024 / 1024;
  };

  test.each([
    ["in one line", "head -c 100M /dev/zero | tr '\\0' x"],
    ["in lines", "yes 0123456789012345678901234567890123456789 | head -c 100M"],
    ["of zeros", "head -c 100M /dev/zero"],
  ])("a hundred megabytes %s cost less than 32 MB", async (_name, command) => {
    const { bash } = shell();
    await bash(command.replace("100M", "8M"));
    let file: string | undefined;
    const megabytes = await growth(
      async () =>
        ({
          details: { outputFile: file },
        } = await bash(command)),
    );
    expect(megabytes).toBeLessThan(32);
    expect(statSync(file!).size).toBeLessThan(64 * 1024 * 1024 + 100);
  });

  test("updates say which stream they come from, and add up to the output", async () => {
    const { bash, updates } = shell();
    await bash("echo out; sleep 0.3; echo err >&2; sleep 0.3; echo out again");
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
  test.skipIf(!namespace)("a namespace ends with whoever started it, even if that is killed", async () => {
    const marker = uniqueSleep();
    const argv = [...namespace!.prefix, "bash", "-c", `setsid env -i sleep ${marker} & sleep ${marker}`];
    const script = `require("node:child_process").spawn(${JSON.stringify(argv[0])}, ${JSON.stringify(argv.slice(1))}, { detached: true, stdio: "ignore" }); setInterval(() => {}, 1000)`;
    const parent = nodeSpawn(process.execPath, ["-e", script], { stdio: "ignore" });
    await until(() => processesWith(marker).length === 2);
    parent.kill("SIGKILL");
    await until(() => processesWith(marker).length === 0, 2_000);
  });

  test("where the system refuses namespaces, none is found and the result says best effort", async () => {
    const refusing = createSpawn((request) =>
      /unshare|bwrap|setpriv/.test(request.argv.join(" ")) ? { ...request, argv: ["false"] } : request,
    );
    expect((await shell({ spawn: refusing }).bash("echo x")).details.containment).toBe("best effort");
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
      const { failure } = shell({ cwd: "/no/such/directory", ...(namespace && { namespace }) });
      expect(await failure("true")).toMatch(/could not be started.*\/no\/such\/directory/);
    }
  });

  test("who belongs to a command is decided by mark, group and parents", () => {
    const one = (pid: number, parent: number, group: number, isMarked = false, isZombie = false) => ({
      pid,
      parent,
      group,
      isMarked,
      isZombie,
    });
    const processes = [
      one(10, 1, 10),
      one(11, 10, 11),
      one(12, 11, 12),
      one(13, 1, 10),
      one(14, 1, 14, true),
      one(15, 14, 15),
      one(16, 1, 16),
      one(17, 10, 10, true, true),
    ];
    expect(membersOf(processes, 10)).toEqual([10, 11, 12, 13, 14, 15]);
  });

  test("a program may call itself anything", () => {
    expect(parseStat("7 (a) Z 1 (x) S 3 4 5 0")).toEqual({ pid: 7, parent: 3, group: 4, isZombie: false });
    expect(parseStat("")).toBeUndefined();
  });

  test("verdicts", () => {
    expect(verdictOf({ kind: "exited", code: 0 }, "/")).toBeUndefined();
    expect(verdictOf({ kind: "exited", code: 143 }, "/")).toBe("Command exited with code 143 (SIGTERM)");
    expect(verdictOf({ kind: "signalled", signal: "SIGSEGV" }, "/")).toBe("Command was ended by SIGSEGV");
  });
});

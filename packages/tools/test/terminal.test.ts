/** Tests jobs on terminals without a sandbox: how they start, end, and what is refused. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { containments, processesWith, shell, uniqueSleep } from "./shell-kit.ts";

const buildScript = join(import.meta.dirname, "../../../scripts/build-sandbox-helper.mjs");
const program = execFileSync(process.execPath, [buildScript], { encoding: "utf8" }).trim();
const isMissing = program === "not built";
// oxlint-disable-next-line no-console -- a test that is left out must be seen
if (isMissing) console.log("There is no C compiler: TERMINALS ARE NOT TESTED.");

const findTerminalProgram = async () => program;
const start = (command: string) => ({ command, tty: true });
const write = (text: string, id = "1") => ({ action: "write" as const, id, text });
const read = { action: "read", id: "1" } as const;

test("without the program that opens it there is no terminal, and the model reads why", async () => {
  const { failure, jobs } = shell();
  const platform =
    process.platform === "linux" ? "the sandbox's helper is not installed" : "terminals work on Linux only";
  expect(await failure(start("cat"))).toBe(
    `Commands cannot have a terminal here: ${platform}. Run it without tty, with options or files in the place of what would be typed.`,
  );
  expect(jobs.list()).toEqual([]);
});

describe.runIf(!isMissing).each(containments)("terminals with %s", (_containment, namespace) => {
  const open = () => shell({ findTerminalProgram, ...(namespace && { namespace }) });

  test("a job shows its screen, keeps what scrolled away, and says how it ended", async () => {
    const { bash, ask, jobs } = open();
    expect((await bash(start("sleep 0.5; seq 1 100; cat; exit 3"))).text).toMatch(
      /^\[Screen of 120x40, [^]*\n62\n[^]*\n\n\[Job 1 is running on a terminal\. Log: /,
    );
    await expect
      .poll(() => ask(read))
      .toMatch(
        /^\[Screen of 120x40, cursor in line 40, column 1, cat reads\]\n62\n63\n[^]*\n100\n\n\[Job 1 is running/,
      );
    expect(await ask({ action: "list" })).toContain("Job 1 is running on a terminal. sleep 0.5; seq 1 100;");
    expect(await ask({ action: "read", id: "1", offset: 60 })).toMatch(/^60\n61\n62\n/);
    await ask(write("<80x24>hi<enter>"));
    await expect.poll(() => ask(read)).toMatch(/^\[Screen of 80x24[^]*\n100\nhi\nhi\n\n\[Job 1 is running/);
    await ask(write("<ctrl-d>"));
    await expect.poll(() => ask(read)).toMatch(/\nhi\nhi\n\n\[Job 1 has ended\. Command exited with code 3/);
    await expect(ask(write("x"))).rejects.toThrow("has ended");
    await jobs.dispose();
  });

  test("everything on a terminal ends with its job and with the session", async () => {
    const { bash, ask, jobs } = open();
    const [first, second] = [uniqueSleep(), uniqueSleep()];
    await bash(start(`(trap '' HUP; setsid sleep ${first} &); sleep ${first}`));
    await bash(start(`trap '' HUP TERM; sleep ${second}; sleep ${second}`));
    await expect.poll(() => processesWith(second)).toHaveLength(1);
    await expect.poll(() => processesWith(first)).toHaveLength(2);
    expect(await ask({ action: "kill", id: "1" })).toContain("Job 1 was killed");
    expect(processesWith(first)).toEqual([]);
    await jobs.dispose();
    expect(processesWith(second)).toEqual([]);
  });
});

describe.runIf(!isMissing)("what is written", () => {
  const open = () => shell({ findTerminalProgram });

  test("is refused for a job that has no terminal or does not exist, and where it is not known", async () => {
    const { bash, ask, jobs } = open();
    await bash({ command: "sleep 60", background: true });
    await expect(ask(write("x"))).rejects.toThrow("Job 1 has no terminal. Start it with bash and tty: true");
    await expect(ask(write("x", "7"))).rejects.toThrow("There is no job 7");
    await expect(ask({ action: "write" })).rejects.toThrow("give its id");
    await jobs.dispose();
  });

  test("is judged for the program that reads it when it is written", async () => {
    const { bash, ask, jobs } = open();
    await bash(start("PS1='$ ' bash --norc"));
    await ask(
      write("until [ -e go ]; do sleep 0.05; done; exec perl -e 'open(F, q(>ready)); while (<STDIN>) { eval }'<enter>"),
    );
    // Only then is another program there.
    await bash("touch go; until [ -e ready ]; do sleep 0.05; done");
    await expect(ask(write("print 42<enter>"))).rejects.toThrow(
      /^Another program reads from the terminal now.*\n[^]*perl reads/,
    );
    await ask(write("print 42<enter>"));
    await expect.poll(() => ask(read)).toMatch(/\n42/);
    await jobs.dispose();
  });

  test("does not stop a program that reads nothing, and the job can be ended", async () => {
    const { bash, ask, jobs } = open();
    await bash(start("stty raw -echo; sleep 60"));
    for (let count = 0; count < 9; count++) await ask(write("x".repeat(8_000))).catch(() => undefined);
    expect(await ask({ action: "kill", id: "1" })).toContain("was killed");
    await jobs.dispose();
  });
});

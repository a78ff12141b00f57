/** Interrupts at any moment: before a cell begins, while it runs, and while its messages are written. And the end of the host. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeClock } from "@tau/ai/testing";
import type { Program } from "@tau/tools";
import { describe, expect, onTestFinished, test } from "vitest";
import { KernelId } from "../../src/kernels/ipc.ts";
import { type CellOptions, Kernel } from "../../src/kernels/kernel.ts";
import { connectProcess, toArgv } from "../../src/kernels/kernel-process.ts";
import { javascriptRunner, nodeOptions } from "../../src/kernels/runners/javascript.ts";
import { pythonRunner } from "../../src/kernels/runners/python.ts";
import { languages } from "./kit.ts";

/** Whether it has neither ended nor waits to be collected. */
const isRunning = (pid: number): boolean => {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
  return /^[^Z\s]/.test(stdout.trim());
};

/** Interrupts of each cell. */
const rounds = process.env["TAU_LONG"] === undefined ? 4 : 40;

function startProgram([command = "", ...args]: readonly string[]): Program {
  const child = spawn(command, args, { stdio: "pipe" });
  const exit = once(child, "close").then(() => ({ kind: "exited" as const, code: child.exitCode ?? 1 }));
  const end = async () => void (child.kill("SIGKILL"), await exit);
  const { pid, stdin, stdout, stderr } = child;
  return { pid, isSandboxed: false, stdin, stdout, stderr, exit, getExcess: () => undefined, end };
}

function openKernel(argv: readonly string[]) {
  const kernel = new Kernel({
    id: KernelId.Python,
    // On a busy machine an answer may take longer than the 5 seconds after which a kernel is ended.
    clock: createFakeClock(),
    idleMs: 1_000_000,
    start: async (events) => connectProcess(startProgram(toArgv(argv)), events),
    onRegister: () => undefined,
    getPersonWaitMs: () => 0,
    onEnd: () => {},
  });
  onTestFinished(() => kernel.end("The test is over."));
  const rest: Omit<CellOptions, "code"> = {
    timeoutMs: undefined,
    signal: undefined,
    onOutput: () => {},
    answer: async () => undefined,
  };
  return {
    kernel,
    run: (code: string, options: Partial<CellOptions> = {}) => kernel.run({ code, ...rest, ...options }),
  };
}

const programs = {
  python: {
    argv: ["python3", "-c", pythonRunner],
    keep: "kept = 42",
    cells: [
      "for i in range(30): display({'a': 'x' * 200000})",
      "'y' * 1000000",
      "[1] * 200000",
      "while True: pass",
      "import asyncio\nwhile True: await asyncio.sleep(0.001)",
      "print('x' * 100000)\n1 / 0",
    ],
    busy: ["while True: pass", "import re; re.match(r'(a+)+$', 'a' * 40 + 'b')", "import time; time.sleep(1000)"],
    writePid: "import os\nopen('FILE', 'w').write(str(os.getpid()) + '\\n')\n",
  },
  javascript: {
    argv: [process.execPath, ...nodeOptions, "-e", javascriptRunner],
    keep: "var kept = 42;",
    cells: [
      "for (let i = 0; i < 30; i++) display({ a: 'x'.repeat(200000) })",
      "'y'.repeat(1000000)",
      "new Array(200000).fill(1)",
      "while (true);",
      "while (true) await new Promise((resolve) => setTimeout(resolve, 1))",
      "console.log('x'.repeat(100000)); throw new Error('x')",
    ],
    busy: ["while (true);", "/(a+)+$/.test('a'.repeat(40) + 'b')", "await new Promise(() => {})"],
    writePid: "require('fs').writeFileSync('FILE', process.pid + '\\n');\n",
  },
};

describe.each(languages)("a kernel of %s", (language) => {
  const { argv, keep, cells, busy, writePid } = programs[language];

  test("ends with a host that is killed, whatever its cell does", { timeout: 120_000 }, async () => {
    const directory = await mkdtemp(join(tmpdir(), "tau-kernel-host-"));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    for (const [index, code] of busy.entries()) {
      const file = join(directory, String(index));
      const cell = { type: "Cell", payload: { id: "c1", code: writePid.replace("FILE", file) + code } };
      const script = `const { spawn } = require("node:child_process");
const [command, ...args] = ${JSON.stringify(toArgv(argv))};
const kernel = spawn(command, args, { stdio: ["pipe", "pipe", "ignore"], detached: true });
kernel.stdout.once("data", () => kernel.stdin.write(${JSON.stringify(`${JSON.stringify(cell)}\n`)}));`;
      const host = spawn(process.execPath, ["-e", script], { stdio: "ignore" });
      const readPid = async () => await readFile(file, "utf8").catch(() => "");
      await expect.poll(readPid, { timeout: 60_000 }).toMatch(/^\d+\n$/);
      const pid = Number(await readPid());
      host.kill("SIGKILL");
      await expect.poll(() => isRunning(pid), { timeout: 30_000 }).toBe(false);
    }
  });

  test("that is interrupted at any moment answers, and keeps its variables", { timeout: 300_000 }, async () => {
    const { kernel, run } = openKernel(argv);
    await run(keep);
    for (let round = 0; round < rounds; round++)
      for (const code of cells) {
        const abort = new AbortController();
        const running = run(code, { signal: abort.signal });
        // The first ones come before the cell has begun.
        if (round > 0) await new Promise((resolve) => setTimeout(resolve, (round * 7) % 40));
        abort.abort();
        await running;
        expect(kernel.hasEnded, `${code} after ${(round * 7) % 40} ms`).toBe(false);
        expect(await run("kept")).toMatchObject({ kind: "done", done: { status: "ok", value: 42 } });
      }
  });
});

/** Interrupts, ends and limits of kernels, and what hostile cells can do. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createFakeClock } from "@tau/ai/testing";
import { describe, expect, test } from "vitest";
import { discovery, kernels } from "../../src/index.ts";
import { languages, openKernels } from "./kit.ts";

const isLong = process.env["TAU_LONG"] !== undefined;
const cells = isLong ? 1_000 : 30;
const kills = isLong ? 200 : 3;

/** The processes whose arguments or environment were marked with a text. */
const findProcesses = (mark: string): string[] =>
  spawnSync("ps", ["-eo", "pid=,stat=,args="], { encoding: "utf8" })
    .stdout.split("\n")
    .filter((line) => line.includes(mark) && !/^\s*\d+ Z/.test(line));

let count = 0;
const uniqueSleep = (): string => `87${process.pid}.${++count}`;

describe.each(languages)("a kernel of %s", (language) => {
  const isPython = language === "python";
  const choose = (python: string, javascript: string) => (isPython ? python : javascript);

  test("is interrupted in a loop, in a sleep and while it awaits, and keeps its variables", async () => {
    const clock = createFakeClock();
    const { run, cwd } = await openKernels({ features: [kernels({ clock }), discovery()] });
    await run(language, choose("x = 1", "var x = 1;"));
    const stuck = [
      choose("BEGIN\nwhile True: pass", "BEGIN while (true) {}"),
      choose("BEGIN\nimport time; time.sleep(1000)", "BEGIN await new Promise(() => {})"),
      choose("BEGIN\nimport asyncio; await asyncio.sleep(1000)", "await 1; BEGIN while (true) {}"),
      choose(
        "import asyncio\ndef loop():\n    BEGIN\n    while True: pass\nasync def main():\n    asyncio.get_running_loop().call_later(0, loop)\n    await asyncio.sleep(1000)\nawait main()",
        "await new Promise(() => setTimeout(() => { BEGIN while (true) {} }))",
      ),
      choose(
        "BEGIN\nimport time\nwhile True: time.sleep(0.01)",
        "setImmediate(() => { BEGIN while (true) {} }); await new Promise(() => {})",
      ),
      // Code in C, which keeps the lock of Python's interpreter.
      choose("import re\nBEGIN\nre.match(r'(a+)+$', 'a' * 40 + 'b')", "BEGIN /(a+)+$/.test('a'.repeat(40) + 'b')"),
      // Node 20 keeps `AsyncLocalStorage` in a way that an interrupt damages.
      ...(isPython || Number.parseInt(process.versions.node) < 22
        ? []
        : [
            "await new (require('async_hooks').AsyncLocalStorage)().run(1, async () => { await 1; BEGIN while (true) {} })",
          ]),
    ];
    for (const [index, code] of stuck.entries()) {
      const mark = `begun-${index}`;
      const begin = choose(`open("${mark}", "w").close()`, `require("fs").writeFileSync("${mark}", "");`);
      const running = run(language, code.replace("BEGIN", begin), { timeoutMs: 300 });
      await expect.poll(() => existsSync(join(cwd, mark))).toBe(true);
      await clock.advance(300);
      const cell = await running;
      expect(cell).toMatchObject({ isError: true, details: { status: "interrupted" } });
      expect(cell.text).toBe("The cell took longer than 300 ms and was interrupted.");
      expect((await run(language, choose("x", "x"))).details.value).toBe(1);
    }
  });

  test("that ignores an interrupt is ended after 5 seconds, and the next cell says that variables are gone", async () => {
    const clock = createFakeClock();
    const { run, cwd } = await openKernels({ features: [kernels({ clock }), discovery()] });
    const deaf = choose(
      "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nopen('deaf', 'w').close()\nwhile True: time.sleep(0.1)",
      // No code of the main thread runs while it waits in the system.
      "require('fs').writeFileSync('deaf', ''); require('child_process').execSync('sleep 1000')",
    );
    const running = run(language, deaf, { timeoutMs: 60_000 });
    let isOver = false;
    void running.then(() => (isOver = true));
    await expect.poll(() => existsSync(join(cwd, "deaf")), { timeout: 30_000 }).toBe(true);
    await clock.advance(60_000);
    await clock.advance(4_000);
    expect(isOver).toBe(false);
    await clock.advance(1_000);
    const cell = await running;
    expect(cell.text).toMatch(/had to be ended: the next cell starts a new one, without the variables\.$/);
    expect((await run(language, "1")).text).toMatch(/^\[A new kernel: .* It did not react to an interrupt\.\]\n\n1$/);
  });

  test("that dies answers its cell once, and the next cell starts another", async () => {
    const { run } = await openKernels();
    for (const death of [
      choose("import os; os._exit(3)", "process.exit(3)"),
      choose("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "process.kill(process.pid, 'SIGKILL')"),
      choose("import os; os.close(4)", "require('fs').closeSync(4)"),
      choose("import os; os.write(4, b'forged\\n')", "require('fs').writeSync(4, 'forged\\n')"),
    ]) {
      const cell = await run(language, death);
      expect(cell, death).toMatchObject({ isError: true, details: { status: "ended" } });
      if (death.includes("exit(")) expect(cell.text).not.toContain("debugger");
      expect((await run(language, "2")).text, death).toMatch(/^\[A new kernel: [\s\S]*\]\n\n2$/);
    }
  });

  test("cannot answer for the host on its standard output, nor act on a terminal", async () => {
    const { run } = await openKernels();
    const forged = JSON.stringify({ type: "Done", payload: { id: "c1", status: "ok", result: "forged" } });
    const cell = await run(language, choose(`print('${forged}')\n3`, `console.log('${forged}'); 3`));
    expect(cell.details.result).toBe("3");
    expect(cell.text).toContain(forged);
    const escape = await run(language, choose("print('\\x1b[2Jx')", "console.log('\\x1b[2Jx')"));
    expect(escape.text).toBe("x");
    const shown = await run(language, choose("display('\\x1b[2Jx')", "display('\\x1b[2Jx')"));
    expect(shown.text).toBe("\\u{1b}[2Jx");
    expect(escape.isError).toBe(false);
  });

  test("that forks, starts programs or closes its output goes on, and nothing outlives the session", async () => {
    const { run, session } = await openKernels();
    const seconds = uniqueSleep();
    const start = choose(
      `import os, subprocess\nsubprocess.Popen(["sleep", "${seconds}"], start_new_session=True)\n1`,
      `require("child_process").spawn("sleep", ["${seconds}"], { detached: true }).unref(); 1`,
    );
    expect((await run(language, start)).isError).toBe(false);
    const fork = choose("import os\nif os.fork() == 0:\n    print('child')\n4", "4");
    expect((await run(language, fork)).details.value).toBe(4);
    expect((await run(language, choose("import os; os.close(1); os.close(2); 5", "5"))).details.value).toBe(5);
    expect((await run(language, "6")).details.value).toBe(6);
    expect(findProcesses(`sleep ${seconds}`)).not.toEqual([]);
    await session.dispose();
    await expect.poll(() => findProcesses(`sleep ${seconds}`), { timeout: 20_000 }).toEqual([]);
  });

  test("ends after 30 idle minutes, and not before", async () => {
    const clock = createFakeClock();
    const { run } = await openKernels({ features: [kernels({ clock }), discovery()] });
    await run(language, choose("x = 1", "var x = 1;"));
    await clock.advance(29 * 60_000);
    expect((await run(language, "x")).details.value).toBe(1);
    await clock.advance(30 * 60_000);
    expect((await run(language, "3")).text).toMatch(/^\[A new kernel: .* It was idle for too long\.\]/);
  });

  test("stays as small as it is after many cells", { timeout: cells * 3_000 + 60_000 }, async () => {
    const { run, model } = await openKernels();
    const runOne = async (code: string) => {
      // The scripted model keeps a copy of each request, and each has all cells before it.
      model.asked.length = 0;
      return await run(language, code);
    };
    const measure = choose(
      "import resource; resource.getrusage(resource.RUSAGE_SELF).ru_maxrss",
      "process.resourceUsage().maxRSS",
    );
    const work = choose(
      "print('x' * 1000)\nlist(range(1000))",
      "console.log('x'.repeat(1000)); new Array(1000).fill(1)",
    );
    for (let index = 0; index < cells / 2; index++) await runOne(work);
    const before = Number((await runOne(measure)).details.value);
    for (let index = 0; index < cells / 2; index++) await runOne(work);
    const after = Number((await runOne(measure)).details.value);
    // In kilobytes.
    expect(after - before).toBeLessThan(40_000);
  });
});

test("a cell that waits for what nobody holds can be collected neither while it waits nor after an interrupt", async () => {
  const clock = createFakeClock();
  const { run, cwd } = await openKernels({ features: [kernels({ clock }), discovery()] });
  const collect = `require("v8").setFlagsFromString("--expose-gc"); require("vm").runInNewContext("gc")();`;
  const begin = `var x = 1; setTimeout(() => { ${collect} require("fs").writeFileSync("collected", ""); });`;
  const running = run("javascript", `${begin} await new Promise(() => {})`, { timeoutMs: 300 });
  await expect.poll(() => existsSync(join(cwd, "collected"))).toBe(true);
  await clock.advance(300);
  expect((await running).text).toBe("The cell took longer than 300 ms and was interrupted.");
  expect((await run("javascript", `${collect} x`)).details.value).toBe(1);
  expect((await run("javascript", "x + 1")).details.value).toBe(2);
});

test("a kernel that takes more memory than the setting allows is ended, and says why", async () => {
  const { run } = await openKernels({ settings: { kernels: { maxMemoryMb: 200 } } as object });
  const cell = await run(
    "javascript",
    "const all = []; await new Promise(() => setInterval(() => all.push(Buffer.alloc(16 << 20, 1)), 20))",
  );
  expect(cell.text).toMatch(/^The kernel has ended: It used more than 200\.0 MB of memory\./);
});

test("kernels that are killed at any moment leave nothing", { timeout: kills * 20_000 + 60_000 }, async () => {
  const seconds = uniqueSleep();
  for (let index = 0; index < kills; index++) {
    const { run, session } = await openKernels();
    const language = languages[index % languages.length]!;
    const code =
      language === "python"
        ? `import subprocess, time; subprocess.Popen(["sleep", "${seconds}"]); time.sleep(${(index % 5) / 10})`
        : `require("child_process").spawn("sleep", ["${seconds}"]); await new Promise((r) => setTimeout(r, ${(index % 5) * 100}))`;
    const running = run(language, code).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, (index * 613) % 2_000));
    await session.dispose();
    await running;
  }
  await expect.poll(() => findProcesses(`sleep ${seconds}`), { timeout: 20_000 }).toEqual([]);
});

/** The debugger in sessions: what is asked, what is used, what people see, and what is left. */
import { existsSync, readFileSync } from "node:fs";
import { chmod, mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "@tau/ai/testing";
import { SettingsManager } from "@tau/config/settings";
import { describe, expect, test } from "vitest";
import { checkAdapters } from "../../src/debug/doctor.ts";
import { builtinAdapters } from "../../src/debug/adapters.ts";
import { AdapterProcess } from "../../src/debug/adapter-process.ts";
import { probeAdapter } from "../../src/debug/choose-adapter.ts";
import { findCommands, resolveAdapter } from "../../src/debug/find-adapter.ts";
import { debug } from "../../src/index.ts";
import { hostPrograms } from "../../src/kit/host-programs.ts";
import { DialogSurface } from "../dialogs.ts";
import { buildSessionProgram, killAfterOutput } from "../session-program.ts";
import { callDebug, listWorkingIn, makeDirectory, open, scriptedAdapter } from "./kit.ts";

const lines = Array.from({ length: 10 }, (_, index) => `line ${index + 1}`).join("\n");
const files = { "program.x": lines };

const createSettings = (more: object = {}): object => ({
  debug: {
    adapters: {
      scripted: { command: process.execPath, args: [scriptedAdapter, "good"], fileTypes: [".x"], ...more },
    },
  },
});

const launch = callDebug({ action: "launch", program: "program.x" });
const stopsAt3 = callDebug({ action: "set_breakpoint", file: "program.x", line: 3 });

/** Nobody may run it, and it would do nothing. */
const dangerous = ["mkfs.ext4", "/dev/no-such-disk"] as const;

test.each([
  ["the program", createSettings(), { program: "/sbin/mkfs.ext4", args: [dangerous[1]], adapter: "scripted" }],
  ["the adapter", createSettings({ command: "/bin/sh", args: ["-c", dangerous.join(" ")] }), { program: "program.x" }],
])("a launch is judged as the commands that it is: %s", async (_name, settings, args) => {
  const turns = [[callDebug({ action: "launch", ...args })], [text("Done.")]];
  const { prompt, getResults } = await open(turns, { settings, permissionMode: "edit", files });
  await prompt("go");
  expect(getResults()[0]).toMatchObject({
    isError: true,
    text: expect.stringMatching(/The policy denied this command|so it was not done/) as unknown,
  });
});

test("in a mode that asks, nothing starts without a yes", async () => {
  const { prompt, getResults, cwd } = await open([[stopsAt3], [launch], [text("Done.")]], {
    settings: createSettings({ args: [scriptedAdapter, "good", "pids"] }),
    permissionMode: "ask",
    files,
  });
  await prompt("go");
  expect(getResults().map(({ isError }) => isError)).toEqual([false, true]);
  expect(existsSync(join(cwd, "pids"))).toBe(false);
});

test("a step of a session has the view of a stop", async () => {
  const { prompt, getResults } = await open(
    [[stopsAt3], [launch], [callDebug({ action: "terminate" })], [text("Done.")]],
    {
      settings: createSettings(),
      files,
    },
  );
  await prompt("go");
  const [, launched] = getResults();
  expect(launched!.text).toContain("> 3 line 3");
  expect(launched!.details).toMatchObject({ stop: { place: { path: "program.x", line: 3 } } });
  expect(debug().tools![0]!.shows).toBe("step");
});

test("two sessions of a process debug the same program, each its own, and one goes on when the other ends", async () => {
  const stopsAt = (line: number) => callDebug({ action: "set_breakpoint", file: "program.x", line });
  const continues = [callDebug({ action: "continue" })];
  const openAt = (line: number, turns: Parameters<typeof open>[0], cwd?: string) =>
    open([[stopsAt(line)], [launch], [text("Started.")], ...turns], {
      settings: createSettings(),
      files,
      ...(cwd !== undefined && { cwd }),
    });
  const first = await openAt(3, [[...continues], [text("Done.")]]);
  const second = await openAt(5, [[...continues], [text("Done.")]], first.cwd);
  await Promise.all([first.prompt("go"), second.prompt("go")]);
  expect([first, second].map(({ getResults }) => /program\.x:\d/.exec(getResults()[1]!.text)?.[0])).toEqual([
    "program.x:3",
    "program.x:5",
  ]);
  await first.dispose();
  await second.prompt("continue");
  expect(second.getResults()[2]).toMatchObject({
    isError: false,
    text: expect.stringContaining("The program has ended with code 3.") as unknown,
  });
});

describe("attaching outside of the sandbox", () => {
  const attach = callDebug({ action: "attach", adapter: "scripted", pid: 1 });

  test("is denied where nobody can be asked", async () => {
    const { prompt, getResults } = await open([[attach], [text("Done.")]], { settings: createSettings() });
    await prompt("go");
    expect(getResults()[0]!.text).toMatch(/process 1 runs outside of the sandbox/);
  });

  test.each([
    ["no", true],
    ["yes", false],
  ])("is asked about, and %s is the answer", async (answer, isError) => {
    const { session, prompt, getResults } = await open(
      [[attach], [callDebug({ action: "terminate" })], [text("Done.")]],
      { settings: createSettings() },
    );
    const surface = new DialogSurface([answer]);
    await session.attachSurface(surface);
    await prompt("go");
    expect(surface.dialogs[0]!.title).toContain("Attach scripted to process 1, outside of the sandbox?");
    expect(getResults()[0]!.isError).toBe(isError);
  });
});

describe("adapters that are missing", () => {
  test("a launch says what to install", async () => {
    const settings: object = { debug: { adapters: { dart: { command: "no-such-dart" } } } };
    const turns = [[callDebug({ action: "launch", program: "a.dart" })], [text("Done.")]];
    const { prompt, getResults } = await open(turns, { settings, files: { "a.dart": "" } });
    await prompt("go");
    expect(getResults()[0]!.text).toContain("dart is not installed. Install one: dart: the Dart SDK.");
  });

  test.each([
    [{ action: "launch", program: "a.c" }, /Compile it with debug information/],
    [{ action: "launch", program: "a.unknown" }, /No adapter is known for/],
    [{ action: "launch", program: "a.x", adapter: "nothing" }, /There is no adapter nothing/],
    [{ action: "launch" }, /program is missing/],
    [{ action: "attach", adapter: "gdb" }, /needs a pid or a port/],
    [{ action: "continue" }, /No program is being debugged/],
  ])("%j", async (args, message) => {
    const { prompt, getResults } = await open([[callDebug(args)], [text("Done.")]], { files: { "a.unknown": "x" } });
    await prompt("go");
    expect(getResults()[0]).toMatchObject({ isError: true, text: expect.stringMatching(message) as unknown });
  });

  test("tau doctor lists those that fit the project, and what installs them", async () => {
    const cwd = await makeDirectory();
    const check = (path: string) =>
      checkAdapters(
        {
          cwd,
          agentDir: cwd,
          settings: SettingsManager.inMemory({}, { features: [debug()], projectTrusted: true }),
          env: process.env,
          canStartPrograms: true,
          openAuth: () => Promise.reject(new Error("There are no keys.")),
        },
        { spawn: hostPrograms.spawn, path },
      );
    expect(await check("")).toEqual({ status: "ok", says: "no adapter is known for this project" });
    await writeFile(join(cwd, "Makefile"), "");
    const missing = await check("");
    expect(missing).toMatchObject({ status: "warn", says: "gdb is not installed, lldb-dap is not installed" });
    expect(missing.fix).toContain("apt install lldb");
    const bin = join(cwd, "tools");
    await mkdir(bin);
    await writeFile(join(bin, "gdb"), "#!/bin/sh\necho 'GNU gdb (Debian 13.1-3) 13.1'\n");
    await chmod(join(bin, "gdb"), 0o755);
    expect((await check(bin)).says).toContain("it is version 13.1, and 14 or newer is needed");
    await writeFile(join(bin, "gdb"), "#!/bin/sh\necho 'GNU gdb (GDB) 15.2'\n");
    expect(await check(bin)).toEqual({ status: "ok", says: "gdb 15.2, lldb-dap is not installed" });
  });
});

const debugpy = builtinAdapters.find(({ name }) => name === "debugpy")!;

test("programs of a project are used only if it is trusted", async () => {
  const cwd = await makeDirectory();
  await mkdir(join(cwd, ".venv/bin"), { recursive: true });
  await symlink(process.execPath, join(cwd, ".venv/bin/python3"));
  const place = { cwd, path: join(cwd, ".venv/bin") };
  expect(findCommands(debugpy, { ...place, isProjectTrusted: true })).toEqual([join(cwd, ".venv/bin/python3")]);
  expect(findCommands(debugpy, { ...place, isProjectTrusted: false })).toEqual([]);
});

const python = findCommands(debugpy, { cwd: "/", isProjectTrusted: false, path: process.env["PATH"] })[0];
if (python === undefined) console.log("Skipped: there is no python3, which would import modules of a project.");

test.skipIf(python === undefined)(
  "modules of a project are not imported by what looks for or attaches debugpy",
  async () => {
    const cwd = await makeDirectory();
    const code = `open(${JSON.stringify(join(cwd, "imported"))}, "a").close()\n`;
    await writeFile(join(cwd, "debugpy.py"), `${code}__version__ = "1"`);
    await probeAdapter(hostPrograms, debugpy, { command: python!, cwd });
    for (const isOutside of [true, false]) {
      const adapter = resolveAdapter(debugpy, python!);
      // It ends with its input; where it is not installed, at once.
      const started = await AdapterProcess.start({ adapter, cwd, spawn: hostPrograms.spawn, isOutside });
      await Promise.race([started.exit, started.connect().then(({ input }) => input.end())]);
      await started.close();
    }
    expect(existsSync(join(cwd, "imported"))).toBe(false);
  },
);

test("/debugger shows what is debugged, starts it again and stops it", async () => {
  const { session, prompt } = await open([[stopsAt3], [launch], [text("Done.")]], {
    settings: createSettings({ args: [scriptedAdapter, "good", "pids"] }),
    files,
  });
  const surface = new DialogSurface([
    "./program.x (stopped)",
    "Restart",
    ({ options }) => options![0],
    "Stop",
    "./program.x (ended)",
    undefined,
    undefined,
  ]);
  await session.attachSurface(surface);
  await prompt("go");
  await session.prompt("/debugger");
  expect(surface.dialogs.map(({ title }) => title.split("\n")[0])).toEqual([
    "Debugger",
    "./program.x (stopped)",
    "Debugger",
    expect.stringMatching(/^\.\/program\.x \((running|stopped)\)$/) as unknown,
    "Debugger",
    "./program.x (ended)",
    "Debugger",
  ]);
});

const kills = process.env["TAU_LONG"] === undefined ? 2 : 200;

test.skipIf(process.platform !== "linux")(
  `nothing is left of ${kills} sessions that are killed while they debug`,
  { timeout: kills * 20_000 + 60_000 },
  async () => {
    const directory = await makeDirectory();
    const settings = createSettings({ args: [scriptedAdapter, "good", "pids"] });
    const contents = `
    import { scriptedModel, text, call } from "@tau/ai/testing";
    import { SettingsManager } from "@tau/config/settings";
    import { createAgentSession } from "@tau/harness";
    import { debug, discovery } from "../src/index.ts";
    process.env.TMPDIR = process.argv[4];
    const features = [discovery(), debug()];
    const session = await createAgentSession({
      cwd: process.argv[2], agentDir: process.argv[3], features,
      settingsManager: SettingsManager.inMemory(${JSON.stringify(settings)}, { features, projectTrusted: true }),
      model: scriptedModel([[${JSON.stringify(stopsAt3)}], [${JSON.stringify({ ...launch, id: "second" })}], [text("Done.")]]),
    });
    await session.prompt("go");
    console.log("ready");
    setInterval(() => {}, 1_000);
  `;
    const program = await buildSessionProgram(directory, contents);
    const temporary = join(directory, "tmp");
    await mkdir(temporary);
    for (let turn = 0; turn < kills; turn++) {
      const [cwd, agentDir] = [join(directory, `work${turn}`), join(directory, `agent${turn}`)];
      for (const path of [cwd, agentDir]) await mkdir(path);
      await writeFile(join(cwd, "program.x"), lines);
      await killAfterOutput(program, [cwd, agentDir, temporary], () => {
        expect(readFileSync(join(cwd, "pids"), "utf8")).not.toBe("");
        expect(listWorkingIn(cwd)).not.toEqual([]);
      });
      await expect.poll(() => listWorkingIn(cwd), { timeout: 20_000 }).toEqual([]);
      // Each removes what the one before has left.
      expect((await readdir(temporary)).filter((name) => name.startsWith("tau-debug-"))).toHaveLength(1);
    }
  },
);

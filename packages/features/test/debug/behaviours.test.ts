/** Adapters that behave badly: each costs its own answer, and nothing is left over. */
import { realpath, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { createFakeClock, type FakeClock } from "@tau/ai/testing";
import { createFiles } from "@tau/tools";
import { describe, expect, test } from "vitest";
import { openScripted, type Scripted } from "./scripted.ts";

/** Lets the time pass once the adapter has received a command, until what hangs is given up. */
async function passTime<T>(scripted: Scripted & { clock: FakeClock }, command: string, work: Promise<T>): Promise<T> {
  let isDone = false;
  const settled = work.finally(() => (isDone = true));
  settled.catch(() => undefined);
  await expect.poll(scripted.listReceived, { timeout: 30_000 }).toContain(command);
  while (!isDone) await scripted.clock.advance(500);
  return await settled;
}

async function openHanging(behaviour: string) {
  const clock = createFakeClock();
  return { ...(await openScripted(behaviour, { clock })), clock };
}

describe("launches that fail", () => {
  test.each([
    ["exits-at-once", "ended", /No module named adapter/],
    ["crashes-in-initialize", "ended", /Segmentation fault/],
    ["crashes-in-launch", "ended", /Segmentation fault/],
    ["crashes-in-breakpoints", "ended", /Segmentation fault/],
    ["crashes-in-configuration", "ended", /Segmentation fault/],
    ["refuses-launch", "refused", /no program at \/.*program\.x/],
    ["terminated-in-launch", "ended", /ended before/],
    ["bad-header", "ended", /no message/],
    ["negative-header", "ended", /no message/],
    ["huge-header", "ended", /1099511627776 bytes/],
    ["no-header", "ended", /no message/],
    ["garbage", "ended", /no messages of the protocol/],
    ["closes-output", "ended", /has ended/],
  ])("%s", async (behaviour, kind, message) => {
    const scripted = await openScripted(behaviour);
    const error = await scripted.launch().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ kind, message: expect.stringMatching(message) as unknown });
    expect(scripted.inSession.isActive).toBe(false);
    await expect.poll(scripted.listRunning).toEqual([]);
    expect(await scripted.run({ action: "sessions" })).toBeDefined();
  });
});

describe("launches that never end", () => {
  test.each([
    ["hangs-in-initialize", "initialize"],
    ["hangs-in-launch", "launch"],
    ["never-initialized", "launch"],
    ["hangs-in-breakpoints", "setBreakpoints"],
    ["hangs-in-configuration", "configurationDone"],
  ])("%s", async (behaviour, command) => {
    const scripted = await openHanging(behaviour);
    await expect(passTime(scripted, command, scripted.launch())).rejects.toMatchObject({ kind: "timeout" });
    await expect.poll(scripted.listRunning).toEqual([]);
  });
});

describe("launches that succeed all the same", () => {
  test.each([
    "good",
    "bad-json",
    "greets",
    "wrong-seq",
    "seq-zero",
    "answers-twice",
    "early-initialized",
    "launch-first",
    "unknown-reverse-requests",
    "odd-start-debugging",
    "odd-terminal",
    "odd-types",
    "flood-of-events",
    "flood-of-threads",
    "no-threads",
    "ignores-end",
  ])("%s", async (behaviour) => {
    const scripted = await openScripted(behaviour);
    const { text } = await scripted.launch();
    expect(text).toContain("Stopped: breakpoint");
    expect(scripted.inSession.current!.status).toBe("stopped");
    await scripted.run({ action: "terminate" });
    await expect.poll(scripted.listRunning).toEqual([]);
  });
});

test("requests of an unknown kind, and odd ones, are refused one by one", async () => {
  for (const [behaviour, refused] of [
    ["unknown-reverse-requests", 4],
    ["odd-terminal", 7],
    ["odd-start-debugging", 4],
  ] as const) {
    const scripted = await openScripted(behaviour);
    await scripted.launch();
    const count = () => scripted.inSession.sessions[0]!.output.split("refused").length - 1;
    await expect.poll(count).toBe(refused);
    await scripted.inSession.end();
  }
});

test("children that start children are limited, and all end with the program", async () => {
  const scripted = await openScripted("start-debugging-loop");
  await scripted.launch();
  await expect.poll(() => scripted.inSession.sessions.length, { timeout: 20_000 }).toBe(9);
  expect(scripted.inSession.sessions.length).toBeLessThanOrEqual(9);
  await scripted.inSession.end();
  await expect.poll(scripted.listRunning, { timeout: 10_000 }).toEqual([]);
});

test("breakpoints that are refused are named, and the program runs", async () => {
  const scripted = await openScripted("refuses-breakpoints");
  const { text } = await scripted.launch();
  expect(text).toContain("Breakpoints that are not set yet: program.x:3: no breakpoints here");
  expect(text).toContain("The program has ended with code 3.");
});

describe("stops", () => {
  test("a stop without a stack says so", async () => {
    const scripted = await openHanging("hangs-in-stack-trace");
    const { text } = await passTime(scripted, "stackTrace", scripted.launch());
    expect(text).toContain("Stopped: breakpoint");
    expect(text).toContain("Not known: The adapter did not answer stackTrace");
  });

  test("variables that never come are left out", async () => {
    const scripted = await openHanging("hangs-in-variables");
    const { text } = await passTime(scripted, "variables", scripted.launch());
    expect(text).toContain("at program.x:3:1 in main");
    expect(text).toContain("Not known: The adapter did not answer variables");
  });

  test("a crash while the stop is looked at is reported, and the next call says that nothing runs", async () => {
    const scripted = await openScripted("crashes-in-stack-trace");
    const { text } = await scripted.launch();
    expect(text).toContain("Segmentation fault");
    await expect(scripted.run({ action: "continue" })).rejects.toMatchObject({ kind: "invalid" });
    expect(scripted.listRunning()).toEqual([]);
  });

  test("lines that cannot be are no places", async () => {
    const scripted = await openScripted("negative-lines");
    const { stop } = await scripted.launch();
    expect(stop).toMatchObject({ reason: "breakpoint", frames: [{ name: "a" }, { name: "b" }] });
    expect(stop).not.toHaveProperty("place");
  });

  test("a stack without an end is cut", async () => {
    const scripted = await openScripted("many-frames");
    const { stop, text } = await scripted.launch();
    expect(stop!.frames).toHaveLength(10);
    expect(text.length).toBeLessThan(3_000);
  });

  test("huge variables are cut", async () => {
    const scripted = await openScripted("huge-variables");
    const { stop, text } = await scripted.launch();
    expect(stop!.variables).toHaveLength(30);
    expect(stop!.variables![0]!.value.length).toBeLessThanOrEqual(200);
    expect(text).toContain("… and 9970 more");
    expect(text.length).toBeLessThan(10_000);
  });

  test("a value that contains itself is read once", async () => {
    const scripted = await openScripted("recursive-variables");
    const { text } = await scripted.launch();
    expect(text).toContain("self = {…} [reference 1000]");
    const members = await scripted.run({ action: "variables", variablesReference: 1000 });
    expect(members.text).toContain("self = {…} [reference 1000]");
  });

  test("characters that act on a terminal are written out", async () => {
    const scripted = await openScripted("escape-codes");
    const { text, stop } = await scripted.launch();
    expect(text).toContain(String.raw`line: int = \u{1b}[2J\u{202e}gone`);
    expect(JSON.stringify([text, stop])).not.toMatch(/\\u001b|\u202e/);
  });

  test.each(["foreign-source", "climbing-source"])("lines of a file outside are not shown: %s", async (behaviour) => {
    const scripted = await openScripted(behaviour);
    await symlink("/etc/passwd", join(scripted.cwd, "link"));
    const { text, stop } = await scripted.launch();
    expect(stop!.place).not.toHaveProperty("excerpt");
    expect(text).not.toContain("root:");
  });

  test("lines are those of the file that was opened, and judged then", async () => {
    const disk = createFiles();
    const real: string[] = [];
    const files = {
      // Somebody puts a link in the place of the file right before it is opened.
      readWhole: async (path: string, maxBytes: number) => {
        await rm(path);
        await symlink("/etc/passwd", path);
        const read = await disk.readWhole(path, maxBytes);
        real.push(read.realPath);
        return read;
      },
    };
    const { text, stop } = await (await openScripted("good", { files })).launch();
    expect(real).toEqual([await realpath("/etc/passwd")]);
    expect(stop!.place).not.toHaveProperty("excerpt");
    expect(text).not.toContain("root:");
  });
});

test("an adapter that cannot listen says why, on whichever output", async () => {
  const scripted = await openScripted("refuses-socket", { connectMode: "socket" });
  await expect(scripted.launch()).rejects.toMatchObject({
    kind: "ended",
    message: "The adapter ended before it listened. It printed: cannot listen at a socket",
  });
});

test("a link in the place of the adapter's socket is not followed", async () => {
  const scripted = await openScripted("links-socket", { connectMode: "socket" });
  await expect(scripted.launch()).rejects.toMatchObject({ kind: "refused" });
  await expect.poll(scripted.listRunning).toEqual([]);
  expect(scripted.listReceived()).toEqual([]);
});

describe("steps", () => {
  test("a crash ends the program with what the adapter printed", async () => {
    const scripted = await openScripted("crashes-in-continue");
    await scripted.launch();
    await expect(scripted.run({ action: "continue" })).rejects.toMatchObject({ kind: "ended" });
    await expect.poll(scripted.listRunning).toEqual([]);
    expect(scripted.inSession.isActive).toBe(false);
  });

  test("a refused step leaves the program where it is", async () => {
    const scripted = await openScripted("refuses-continue");
    await scripted.launch();
    await expect(scripted.run({ action: "continue" })).rejects.toMatchObject({ kind: "refused", message: "not now" });
    expect((await scripted.run({ action: "step_over" })).text).toContain("program.x:4:1");
  });

  test("a request that hangs is given up, and the program can still be ended", async () => {
    const scripted = await openHanging("hangs-in-continue");
    await scripted.launch();
    const continued = scripted.run({ action: "continue" });
    await expect(passTime(scripted, "continue", continued)).rejects.toMatchObject({ kind: "timeout" });
    await scripted.run({ action: "terminate" });
    await expect.poll(scripted.listRunning).toEqual([]);
  });

  test("a stop that is reported before the answer, or before that the program continues, is a stop", async () => {
    for (const behaviour of ["answers-late", "late-continued"]) {
      const scripted = await openScripted(behaviour);
      await scripted.launch();
      await scripted.run({ action: "set_breakpoint", file: "program.x", line: 6 });
      expect((await scripted.run({ action: "continue" })).text).toContain("program.x:6:1");
      expect((await scripted.run({ action: "stack_trace" })).text).toContain("main at program.x:6:1");
      await scripted.inSession.end();
    }
  });

  test("stops after the end are none", async () => {
    const scripted = await openScripted("stops-after-terminate");
    await scripted.launch();
    const { text } = await scripted.run({ action: "continue" });
    expect(text).toContain("The program has ended with code 3.");
    expect(scripted.inSession.isActive).toBe(false);
    await expect.poll(scripted.listRunning).toEqual([]);
  });

  test("an adapter that does not say that the session is over is ended with its program", async () => {
    const scripted = await openScripted("exited-only");
    await scripted.launch();
    expect((await scripted.run({ action: "continue" })).text).toContain("The program has ended with code 3.");
  });

  test("a huge value is cut", async () => {
    const scripted = await openScripted("huge-value");
    await scripted.launch();
    const { text } = await scripted.run({ action: "evaluate", expression: "x" });
    expect(text.length).toBeLessThan(3_000);
  });
});

test("the answer to a request of the model that is deep and wide costs no more than what is shown of it", async () => {
  const scripted = await openScripted("deep-value");
  await scripted.launch();
  const { text } = await scripted.run({ action: "custom_request", function: "evaluate", timeoutMs: 60_000 });
  expect(text).toMatch(/^\{\n "result": \[\n {2}\[/);
  expect(text).toMatch(/\n… \(the rest is not shown\)$/);
  expect(text.length).toBeLessThan(9_000);
});

test("an adapter that asks without end and does not read the answers is ended", async () => {
  const scripted = await openScripted("flood-of-requests");
  await scripted.launch();
  await scripted.run({ action: "continue", timeoutMs: 60_000 }).catch(() => undefined);
  expect(scripted.inSession.isActive).toBe(false);
  await expect.poll(() => scripted.listRunning(), { timeout: 10_000 }).toEqual([]);
});

test("an evaluation that never ends is given up, and the program can be stepped", async () => {
  const scripted = await openScripted("hangs-in-evaluate");
  await scripted.launch();
  const evaluation = scripted.run({ action: "evaluate", expression: "x", timeoutMs: 50 });
  await expect(evaluation).rejects.toMatchObject({ kind: "timeout" });
  expect((await scripted.run({ action: "step_over" })).text).toContain("Stopped: step at program.x:4");
});

test("what commands for a terminal print is there once, however many there are", async () => {
  const scripted = await openScripted("terminal-twice");
  await scripted.launch();
  const count = (word: string) => scripted.inSession.sessions[0]!.output.split(word).length - 1;
  await expect.poll(() => [count("first"), count("second")], { timeout: 20_000 }).toEqual([1, 1]);
});

test("of a flood of output the last 128 KiB are kept", async () => {
  const scripted = await openScripted("flood-of-output");
  const { text } = await scripted.launch();
  expect(text.length).toBeLessThan(6_000);
  const { output } = scripted.inSession.current!;
  expect(Buffer.byteLength(output)).toBe(128 * 1024);
  expect(output.endsWith("the end\n")).toBe(true);
});

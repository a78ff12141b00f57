import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@tau/ai";
import { expect, onTestFinished, test } from "vitest";
import { createPorts } from "../../test/ports.ts";
import { loadInProcess } from "./load-in-process.ts";

test("errors in timers and promises that nobody waits for are told, and end nothing", async () => {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "tau-stray-errors-")));
  const path = join(directory, "a.ts");
  writeFileSync(
    path,
    `import { writeFile } from "node:fs/promises";
    export default () => {
      setTimeout(() => { throw new Error("late"); }, 1);
      setImmediate(async () => { throw new Error("later"); });
      void (async () => { await null; throw new Error("floating"); })();
      Promise.reject("a text");
      void fetch("http://127.0.0.1:9");
      void writeFile("/no/such/directory/x", "");
    };`,
  );
  // Those of the test runner, which would fail the run.
  const others = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection");
  onTestFinished(() => {
    for (const listener of others) process.on("unhandledRejection", listener);
    rmSync(directory, { recursive: true });
  });
  const info = { path, source: "local", scope: "user", origin: "top-level" } as const;
  const { ports, reported } = createPorts({ clock: systemClock });
  const { problems } = await loadInProcess([{ id: path, name: "a", path, origin: "user", digest: "", info }], ports);
  const told = () => [...problems, ...reported].map(({ message }) => message);
  await expect.poll(told).toHaveLength(6);
  expect(told()).toEqual(
    expect.arrayContaining([
      // Which one it was is not known where others were loaded before.
      expect.stringMatching(/: A promise was rejected, and nobody waited for it: a text$/),
      // Their stacks are Node's own.
      expect.stringMatching(/: A promise was rejected, and nobody waited for it: fetch failed$/),
      expect.stringMatching(/: A promise was rejected, and nobody waited for it: ENOENT/),
      `${path}:5: A promise was rejected, and nobody waited for it: floating`,
      "A timer of it failed: late",
      "A timer of it failed: later",
    ]),
  );
});

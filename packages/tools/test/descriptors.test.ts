import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { bundleProgram } from "./program.ts";
import { scratch } from "./scratch.ts";

/** Runs statements in a process of its own that has no descriptors left until it calls `free`. They call `tell`. */
async function runWithoutDescriptors(statements: string): Promise<unknown> {
  const script = await bundleProgram(
    join(scratch(), "program.mjs"),
    `
      import { closeSync, openSync } from "node:fs";
      import { systemClock } from "@tau/ai";
      import { copyAttributes } from "../src/platform/attributes.ts";
      import { createSpawn, trySpawn } from "../src/platform/spawn.ts";
      import { watchMemory } from "../src/search/memory.ts";
      const taken = [];
      const tell = (value) => process.stderr.write(JSON.stringify(value));
      const take = () => {
        try {
          for (;;) taken.push(openSync("/dev/null"));
        } catch (error) {
          if (error.code !== "EMFILE") throw error;
        }
      };
      const free = () => taken.splice(0).forEach((fd) => closeSync(fd));
      process.stderr.write("");
      take();
      ${statements}
    `,
  );
  const { stderr } = await promisify(execFile)("sh", ["-c", 'ulimit -n 64; exec "$@"', "sh", process.execPath, script]);
  return JSON.parse(stderr);
}

test("without descriptors a program is not started, whatever it was asked to get, and the reason passes", async () => {
  const ends = await runWithoutDescriptors(`
    const spawn = createSpawn();
    const request = { argv: ["true"], cwd: "/", env: {} };
    const ends = [];
    for (const more of [{}, { isAside: true }, { inputs: [Buffer.from("x")] }]) {
      const tried = await trySpawn(spawn, { ...request, ...more });
      ends.push("child" in tried ? (await tried.child.exit).code : String(tried.refusal));
    }
    free();
    tell(ends);
  `);
  expect(ends).toEqual(["EMFILE", "EMFILE", "EMFILE"]);
});

test("the memory of a search is watched on after a moment without descriptors", async () => {
  const told = await runWithoutDescriptors(`
    const onTooMuch = () => tell("too much");
    watchMemory({ pid: process.pid, maxBytes: 1, clock: systemClock, onTooMuch });
    setTimeout(free, 250);
  `);
  expect(told).toBe("too much");
});

test("attributes that could not be copied for lack of descriptors do not count as missing", async () => {
  expect(await runWithoutDescriptors("const [file] = taken; tell(await copyAttributes(file, file));")).toBe(true);
});

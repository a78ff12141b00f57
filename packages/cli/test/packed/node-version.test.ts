/** Every way to start tau refuses a Node that is too old, in one sentence. */
import { execFile } from "node:child_process";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { transform } from "esbuild";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../kit.ts";
import { installed } from "./kit.ts";

const execute = promisify(execFile);
const root = join(import.meta.dirname, "..", "..", "..", "..");

const fail = async (command: string, args: string[], env: NodeJS.ProcessEnv = process.env) =>
  await execute(command, args, { env }).then(
    () => expect.unreachable("it did not fail"),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, stdout, stderr }),
  );

test("the packed program refuses an old Node before it loads anything", async () => {
  const program = join(await installed(), "dist", "tau.cjs");
  const older = join(await temporaryDirectory(), "older.cjs");
  for (const version of ["18.20.8", "20.18.9", "8.17.0"]) {
    const versions = `{ ...process.versions, node: "${version}" }`;
    await writeFile(older, `Object.defineProperty(process, "versions", { value: ${versions} });`);
    const stderr = `tau: Node.js 20.19 or newer is needed; this is ${version}.\n`;
    for (const args of [["--version"], ["models"], ["-p", "Hi"]]) {
      expect(await fail(process.execPath, ["--require", older, program, ...args])).toEqual({
        code: 1,
        stdout: "",
        stderr,
      });
    }
  }
});

test("the first stage of the program has only the syntax of ES2015", async () => {
  const source = await readFile(join(await installed(), "dist", "tau.cjs"), "utf8");
  const lowered = await transform(source, { target: "es2015", charset: "utf8" });
  expect(lowered.code).toBe((await transform(source, { target: "esnext", charset: "utf8" })).code);
});

test("./tau and install.sh refuse an old Node before they install or build anything", async () => {
  const directory = await temporaryDirectory();
  await mkdir(join(directory, "bin"));
  for (const name of ["node", "npm"]) {
    await writeFile(join(directory, "bin", name), "#!/bin/sh\necho v18.20.8\n", { mode: 0o755 });
  }
  const env = { PATH: `${join(directory, "bin")}:/usr/bin:/bin`, HOME: directory };
  for (const name of ["tau", "install.sh"]) {
    await copyFile(join(root, name), join(directory, name));
    const stderr = `${name}: Node.js 20.19 or newer is needed; this is 18.20.8.\n`;
    expect(await fail("sh", [join(directory, name)], env)).toEqual({ code: 1, stdout: "", stderr });
  }
});

test("install.sh --help says what it does, and an unknown option is refused", async () => {
  const script = join(root, "install.sh");
  const { stdout } = await execute("sh", [script, "--help"]);
  for (const word of ["Usage: sh install.sh [ARCHIVE]", "TAU_HOME", "TAU_BIN"]) expect(stdout).toContain(word);
  expect(await fail("sh", [script, "--hlep"])).toMatchObject({ code: 2, stdout: "" });
});

/** Installs the archive with npm, from the registry that npm is configured for. */
import { execFile } from "node:child_process";
import { access, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { version } from "../../src/start/version.ts";
import { temporaryDirectory } from "../kit.ts";
import { archive, installFromRegistry } from "./kit.ts";

const execute = promisify(execFile);

test("npm installs the archive without scripts, and the installed program runs", async (context) => {
  const directory = await temporaryDirectory();
  const home = join(directory, "home");
  await mkdir(home);
  const missing = await installFromRegistry(directory, await archive());
  if (missing !== undefined) {
    const reason = `npm could not reach its registry (${missing}): the installation was not tested.`;
    console.log(reason);
    context.skip(reason);
  }
  const program = join(directory, "node_modules", ".bin", "tau");
  const tau = (...args: string[]) =>
    execute(program, args, { cwd: directory, env: { PATH: process.env["PATH"] ?? "", HOME: home } });
  expect((await tau("--version")).stdout).toBe(`${version}\n`);
  const { stdout: shown } = await tau("demo");
  expect(shown).toContain("scripted");
  const rows = JSON.parse((await tau("doctor", "--json")).stdout) as { check: string; status: string }[];
  expect(rows.find(({ check }) => check === "search")).toMatchObject({ status: "ok" });
  // Only the program and its pinned dependencies are installed.
  await expect(access(join(directory, "node_modules", "vitest"))).rejects.toThrow("ENOENT");
});

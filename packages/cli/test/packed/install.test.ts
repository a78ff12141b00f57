/** Installs the archive with npm, from the registry that npm is configured for. */
import { execFile } from "node:child_process";
import { access, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { version } from "../../src/version.ts";
import { temporaryDirectory } from "../kit.ts";
import { archive } from "./kit.ts";

const execute = promisify(execFile);

/** Errors of npm if it cannot reach the registry. Any other error fails the test. */
const unreachable =
  /\b(?:ENOTCACHED|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|SELF_SIGNED_CERT_IN_CHAIN)\b/;

const timeoutMs = 100_000;

/** Returns why the registry could not be reached, or undefined if the installation succeeded. */
async function install(directory: string): Promise<string | undefined> {
  const args = ["install", "--prefix", directory, "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];
  const file = await archive();
  try {
    await execute("npm", [...args, "--fetch-retries=0", file], { cwd: directory, timeout: timeoutMs });
    return undefined;
  } catch (error) {
    const { stderr, killed } = error as { stderr: string; killed: boolean };
    if (killed) return `it took more than ${timeoutMs / 1_000} s`;
    const reason = unreachable.exec(stderr)?.[0];
    if (reason === undefined) throw error;
    return reason;
  }
}

test("npm installs the archive without scripts, and the installed program runs", async (context) => {
  const directory = await temporaryDirectory();
  const home = join(directory, "home");
  await mkdir(home);
  const missing = await install(directory);
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

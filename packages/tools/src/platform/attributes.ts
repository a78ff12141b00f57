/**
 * Copies access lists and extended attributes. Node has no calls for them, so GNU `cp` does it, on open files and without
 * any name that could be replaced meanwhile.
 */
import { systemCode } from "../errors.ts";

const copy = "/bin/cp --attributes-only --preserve=mode,xattr /proc/self/fd/0";

/**
 * A pipe takes no attributes, and the output of `$( )` is one: copying onto it succeeds when there are none. That costs
 * less than always copying, and tells that later copies are not needed.
 */
const script = [
  `none=$(${copy} /proc/self/fd/1 2>/dev/null) && exit 10`,
  `${copy} /proc/self/fd/3 2>/dev/null && exit 0`,
  "/bin/cp --attributes-only --help >/dev/null 2>&1 || exit 11",
  "exit 1",
].join("\n");

let isUnable = process.platform !== "linux";

/**
 * Gives the file `to` the access list and the extended attributes of `from`. True when there were any. Attributes that
 * cannot be copied are lost: the content matters more. Never rejects.
 */
export async function copyAttributes(from: number, to: number): Promise<boolean> {
  if (isUnable) return false;
  const code = await run(from, to);
  // This system has no `cp` that can do it, so it is not tried again.
  if (code === 11) isUnable = true;
  return code === 0 || code === 1;
}

/** The exit code; 11 also when there is no shell. A lack of processes or descriptors, which passes, is a failure. */
async function run(from: number, to: number): Promise<number> {
  // Loaded late: most processes never replace a file with attributes.
  const { spawn } = await import("node:child_process");
  return await new Promise((resolve) => {
    const child = spawn("/bin/sh", ["-c", script], { stdio: [from, "ignore", "ignore", to], env: {} });
    child.once("error", (error) => resolve(systemCode(error) === "ENOENT" ? 11 : 1));
    child.once("exit", (code) => resolve(code ?? 1));
  });
}

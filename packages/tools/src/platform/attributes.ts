/**
 * Access lists and extended attributes. Node has no calls for them, so GNU `cp` does it, on open files and without any
 * name that could be swapped.
 */
const copy = "/bin/cp --attributes-only --preserve=mode,xattr /proc/self/fd/0";

/**
 * A pipe takes no attributes, and the output of `$( )` is one: copying onto it succeeds when there are none. That costs
 * less than always copying, and only so can it be known that later copies are not needed.
 */
const script = [
  `none=$(${copy} /proc/self/fd/1 2>/dev/null) && exit 10`,
  `${copy} /proc/self/fd/3 2>/dev/null && exit 0`,
  "/bin/cp --attributes-only --help >/dev/null 2>&1 || exit 11",
  "exit 1",
].join("\n");

let isUnable = process.platform !== "linux";

/**
 * Gives the file `to` the access list and the extended attributes of `from`, and says whether there were any. What
 * cannot be kept is lost: the content matters more. Never rejects.
 */
export async function copyAttributes(from: number, to: number): Promise<boolean> {
  if (isUnable) return false;
  const code = await run(from, to);
  // Nobody here can do it (a small `cp`, or none), and so nobody needs to be asked again.
  if (code === 11 || code === undefined) isUnable = true;
  return code === 0 || code === 1;
}

/** The exit code; undefined when there is no shell. */
async function run(from: number, to: number): Promise<number | undefined> {
  // Most who import this never write to a file that is not theirs.
  const { spawn } = await import("node:child_process");
  return await new Promise((resolve) => {
    const child = spawn("/bin/sh", ["-c", script], { stdio: [from, "ignore", "ignore", to], env: {} });
    child.once("error", () => resolve(undefined));
    child.once("exit", (code) => resolve(code ?? 1));
  });
}

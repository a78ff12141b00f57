/** Starts programs outside of any sandbox, for work of tau itself that no session does. */
import type { Spawner } from "./run-git.ts";

/** They get the variables that are asked for by name, and are ended together with everything that they started. */
export const hostPrograms: Spawner = {
  async spawn(command, args, { cwd = process.cwd(), env, inherits } = {}) {
    // Late, because few sessions need it.
    const { createSpawn } = await import("@tau/tools");
    const names = Array.isArray(inherits) ? inherits : Object.keys(process.env);
    const inherited = names.flatMap((name: string) =>
      process.env[name] === undefined ? [] : [[name, process.env[name]] as const],
    );
    const child = await createSpawn()({
      argv: [command, ...args],
      cwd,
      env: { ...Object.fromEntries(inherited), ...env },
      stdin: "pipe",
      detached: true,
    });
    if (!child.stdin) throw new Error("Too many files are open: no program can be started.");
    const { pid, stdin, stdout, stderr, exit } = child;
    const end = async () => {
      child.signal("SIGKILL", "group");
      await exit;
    };
    return { pid, isSandboxed: false, stdin, stdout, stderr, exit, getExcess: () => undefined, end };
  },
};

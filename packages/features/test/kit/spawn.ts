/** Starts programs of parsers in tests. */
import { spawn as startProcess } from "node:child_process";
import type { Parser } from "../../src/kit/syntax/parser.ts";

/** Starts programs without a sandbox, as `tau.spawn` would inside of one. */
export const spawn: ConstructorParameters<typeof Parser>[0]["spawn"] = async (command, args) => {
  const child = startProcess(command, args, { stdio: "pipe" });
  const exit = new Promise<{ kind: "exited"; code: number }>((resolve) =>
    child.once("exit", (code) => resolve({ kind: "exited", code: code ?? -1 })),
  );
  const { stdin, stdout, stderr } = child;
  const end = async () => {
    child.kill("SIGKILL");
    await exit;
  };
  return { pid: child.pid!, isSandboxed: false, stdin, stdout, stderr, exit, getExcess: () => undefined, end };
};

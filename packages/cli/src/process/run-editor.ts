import { spawn } from "node:child_process";
import type { Io } from "../commands/command.ts";

/** Opens a file in an editor. Through a shell, as git does it: the variable may hold a program with arguments. */
export const runEditor = (
  editor: string,
  file: string,
  { cwd, env }: Pick<Io, "cwd" | "env">,
): Promise<number | string> =>
  new Promise((resolve, reject) => {
    const child = spawn("sh", ["-c", `${editor} "$1"`, "sh", file], { cwd, env: { ...env }, stdio: "inherit" });
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(code ?? signal ?? "an unknown status"));
  });

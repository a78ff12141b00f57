import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HarnessError } from "@tau/protocol";

/** Opens an editor on this terminal with a text. Resolves to what was saved; throws if the editor fails. */
export async function editInEditor(command: string, text: string, cwd: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "tau-prompt-"));
  const file = join(directory, "prompt.md");
  try {
    await writeFile(file, text, { mode: 0o600 });
    const code = await runEditor(command, file, cwd);
    if (code !== 0)
      throw new HarnessError(
        "unavailable",
        `The editor ${command} ended with ${code ?? "a signal"}. The prompt is as it was.`,
      );
    return (await readFile(file, "utf8")).replace(/\r?\n$/, "");
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** A shell reads the command, so that it may have arguments and quotes. */
function runEditor(command: string, file: string, cwd: string): Promise<number | null> {
  const options = { cwd, stdio: "inherit" } as const;
  const child =
    process.platform === "win32"
      ? spawn(`${command} "${file}"`, { ...options, shell: true })
      : spawn("/bin/sh", ["-c", `${command} "$1"`, "sh", file], options);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", resolve);
  });
}

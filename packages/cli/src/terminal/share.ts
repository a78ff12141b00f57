/** Shares a file as a secret gist, with GitHub's own program. */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Sharing } from "../interactive/program.ts";
import { HarnessError } from "@tau/protocol";

type Env = Readonly<Record<string, string | undefined>>;

const timeoutMs = 60_000;

export async function findSharing(env: Env): Promise<Sharing | string> {
  const status = await runGh(["auth", "status"], env);
  if (status.kind === "missing")
    return "/share needs GitHub's program gh, which is not installed: https://cli.github.com";
  if (status.kind === "failed") return `gh is not logged in. Run gh auth login first. It says: ${status.message}`;
  const directory = await mkdtemp(join(tmpdir(), "tau-share-"));
  const path = join(directory, "session.html");
  return {
    path,
    async send() {
      // A gist of gh is secret unless --public is given.
      const result = await runGh(["gist", "create", path], env);
      if (result.kind === "done") return result.output.trim();
      throw new HarnessError(
        "unavailable",
        `The gist could not be made: ${result.kind === "failed" ? result.message : "gh is gone."}`,
      );
    },
    close: () => rm(directory, { recursive: true, force: true }),
  };
}

type Result = { kind: "done"; output: string } | { kind: "failed"; message: string } | { kind: "missing" };

const runGh = (args: readonly string[], env: Env): Promise<Result> =>
  new Promise((resolve) => {
    execFile("gh", args, { env: env as NodeJS.ProcessEnv, timeout: timeoutMs }, (error, stdout, stderr) => {
      if (!error) return resolve({ kind: "done", output: stdout });
      if (error.code === ("ENOENT" as unknown)) return resolve({ kind: "missing" });
      resolve({ kind: "failed", message: stderr.trim() || error.message });
    });
  });

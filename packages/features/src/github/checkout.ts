/** Checks a pull request out into a branch of its own. */
import { runGit } from "../kit/run-git.ts";
import type { ExtensionAPI } from "@tau/extensions";
import { toVisibleLine } from "../kit/visible-text.ts";
import { GitHubFailure } from "./failure.ts";
import { defaultApiUrl } from "./settings.ts";

interface CheckoutParts {
  readonly tau: Pick<ExtensionAPI, "spawn" | "requestAccess" | "getPermissionMode">;
  readonly cwd: string;
  readonly repository: string;
  readonly apiUrl: string;
  getToken(): Promise<string | undefined>;
  readonly signal: AbortSignal | undefined;
}

/** The address of repositories, for git. Pure. */
const getWebUrl = (apiUrl: string): string =>
  apiUrl === defaultApiUrl ? "https://github.com" : new URL(apiUrl).origin;

/**
 * Fetches from the repository itself, not from a remote, which may be another one, and with no program of the repository's. Changes
 * that are not committed stay, or git refuses. Throws a `GitHubFailure`.
 */
export async function checkOut(number: number, parts: CheckoutParts): Promise<string> {
  const { tau, cwd, repository, apiUrl, getToken, signal } = parts;
  const branch = `pr-${number}`;
  if (tau.getPermissionMode() === "plan")
    throw new GitHubFailure("denied", "Nothing is checked out in plan mode: that writes files.");
  const verdict = await tau.requestAccess(
    [
      {
        capability: "tool",
        target: { kind: "name", name: "github checkout" },
        eachTime: `It checks out the pull request ${repository}#${number} as the branch ${branch} in ${cwd}.`,
      },
    ],
    { name: "github", summary: `Check out ${repository}#${number}`, signal },
  );
  if (verdict.kind === "denied") throw new GitHubFailure("denied", `Nothing was checked out. ${verdict.reason}`);
  const git = async (args: readonly string[], more: Partial<Parameters<typeof runGit>[2]> = {}) =>
    await runGit(tau, args, { cwd, signal, ...more });
  const mustRun = async (...args: Parameters<typeof git>): Promise<void> => {
    const { code, stderr } = await git(...args);
    if (code !== 0) throw new GitHubFailure("git", `git ${args[0][0]} failed: ${stderr.trim().slice(-1_000)}`);
  };
  const web = getWebUrl(apiUrl);
  const token = await getToken();
  const header = token === undefined ? undefined : Buffer.from(`x-access-token:${token}`).toString("base64");
  const ref = `refs/remotes/github/pr/${number}`;
  if (header !== undefined) mustConnectPlainly(await git([...listConnectionSettings]));
  await mustRun(["fetch", "--no-tags", `${web}/${repository}.git`, `+refs/pull/${number}/head:${ref}`], {
    network: "all",
    // An address that the repository replaces by another must not start a program.
    env: { GIT_ALLOW_PROTOCOL: new URL(web).protocol.slice(0, -1) },
    config: [
      ["credential.helper", ""],
      ...(header === undefined ? [] : [[`http.${web}/.extraHeader`, `Authorization: Basic ${header}`] as const]),
    ],
  });
  const exists = (await git(["rev-parse", "--verify", "--quiet", `refs/heads/${branch}`])).code === 0;
  if (!exists) await mustRun(["checkout", "-b", branch, "--no-track", ref]);
  else {
    await mustRun(["checkout", branch]);
    await mustRun(["merge", "--ff-only", ref]);
  }
  return `${repository}#${number} is checked out as the branch ${branch}.`;
}

const listConnectionSettings = [
  "config",
  "--show-scope",
  "--name-only",
  "--get-regexp",
  String.raw`^http\..*(proxy|ssl)`,
];

/** Throws if the repository itself says through which proxy git connects, or whom it trusts: that could lead the token elsewhere. */
function mustConnectPlainly({ stdout }: { stdout: Buffer }): void {
  const own = stdout
    .toString("utf8")
    .split("\n")
    .map((line) => /^(?:local|worktree)\s+(.+)$/.exec(line)?.[1])
    .find((key) => key !== undefined);
  if (own === undefined) return;
  throw new GitHubFailure(
    "git",
    `Nothing was fetched: the configuration of this repository sets ${toVisibleLine(own, 100)}, which could lead the login of GitHub elsewhere. The user can remove it, or fetch the pull request.`,
  );
}

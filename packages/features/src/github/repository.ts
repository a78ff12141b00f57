/** The repository that a call is about. */
import type { ExtensionAPI } from "@tau/extensions";
import { runGit } from "../kit/run-git.ts";
import { GitHubFailure } from "./failure.ts";

const part = String.raw`[\w.-]{1,100}`;
const repositoryPattern = new RegExp(`^${part}/${part}$`);

/** Checks a name such as `owner/name`. Throws a `GitHubFailure`. */
export function mustBeRepository(text: string): string {
  if (repositoryPattern.test(text) && !text.split("/").some((name) => /^\.+$/.test(name))) return text;
  throw new GitHubFailure("arguments", `${text.slice(0, 100)} is not a repository: write owner/name.`);
}

/** The repository in the address of a remote; undefined if it has none. Pure. */
export function parseRemote(address: string): string | undefined {
  const [, path] =
    /^(?:[\w.+-]+:\/\/[^/]+\/|(?:[\w.-]+@)?[\w.-]+:(?!\/\/))(.+?)(?:\.git)?\/?$/.exec(address.trim()) ?? [];
  return path !== undefined && repositoryPattern.test(path) ? path : undefined;
}

/** Finds the repository of the remote `origin`. Throws a `GitHubFailure` if there is none. */
export async function findRepository(tau: Pick<ExtensionAPI, "spawn">, cwd: string): Promise<string> {
  const { code, stdout } = await runGit(tau, ["config", "--get", "remote.origin.url"], { cwd });
  const repository = code === 0 ? parseRemote(stdout.toString("utf8")) : undefined;
  if (repository !== undefined) return repository;
  throw new GitHubFailure(
    "arguments",
    "This directory has no remote origin on GitHub. Say which repository: repo owner/name.",
  );
}

/** An address such as `issue://owner/name/12`. */
export interface ThreadAddress {
  readonly kind: "issue" | "pr";
  readonly repository: string;
  readonly number: number;
}

/** Parses an address; undefined if it is none. Pure. */
export function parseThreadAddress(text: string): ThreadAddress | undefined {
  const [, kind, repository = "", number] =
    new RegExp(`^(issue|pr)://(${part}/${part})/(\\d{1,9})$`).exec(text.trim()) ?? [];
  return kind === undefined || !repositoryPattern.test(repository)
    ? undefined
    : { kind: kind as ThreadAddress["kind"], repository, number: Number(number) };
}

/** Runs git for features, in the sandbox, without executing anything that a repository or the user configured. */
import { buffer, text as readText } from "node:stream/consumers";
import { followSignal } from "@tau/ai/internal";
import type { ExtensionAPI } from "@tau/extensions";

export interface GitOptions {
  cwd: string;
  /** Variables for git, such as an index of its own. */
  env?: Readonly<Record<string, string>>;
  /** Settings of git besides those of the repository. */
  config?: readonly (readonly [key: string, value: string])[];
  /** False where attributes keep all filters from being used, so that they need not be found. Default true. */
  hasFilters?: boolean;
  /** Written to its standard input. */
  input?: string | Uint8Array;
  /** Directories that it may write to besides the workspace. */
  allowedPaths?: readonly string[];
  /** `all` lets it reach the network. Default: as commands. */
  network?: "all";
  signal?: AbortSignal | undefined;
}

export interface GitResult {
  /** 1 if git could not be started or was ended. */
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export type Spawner = Pick<ExtensionAPI, "spawn">;

const inherited = ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR"];

const env = {
  GIT_TERMINAL_PROMPT: "0",
  GIT_PAGER: "cat",
  GIT_EDITOR: "true",
  GIT_SEQUENCE_EDITOR: "true",
  GIT_ASKPASS: "true",
  // A status must not wait for, or hold, the lock of a person's git.
  GIT_OPTIONAL_LOCKS: "0",
};

/** Programs that git starts by itself. Filters have names of their own, so that they are looked for. */
const config: readonly (readonly [key: string, value: string])[] = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["core.pager", "cat"],
  ["core.alternateRefsCommand", "true"],
  ["commit.gpgSign", "false"],
  ["tag.gpgSign", "false"],
  ["log.showSignature", "false"],
  ["submodule.recurse", "false"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
];

/** Commands that show differences, and would have them drawn by other programs. */
const showing = /^(?:diff|diff-files|diff-index|diff-tree|log|show|format-patch|whatchanged|reflog)$/;

/**
 * Commands that read and write no files of the work tree, so that no filter could apply. `write-tree` does: it reads files that
 * changed in the same instant as the index.
 */
const withoutFiles =
  /^(?:commit-tree|config|diff-tree|for-each-ref|index-pack|init|merge-base|pack-objects|rev-list|rev-parse|update-ref)$/;

export async function runGit(tau: Spawner, args: readonly string[], options: GitOptions): Promise<GitResult> {
  const [command = "", ...rest] = args;
  const noPrograms = showing.test(command) ? ["--no-ext-diff", "--no-textconv"] : [];
  const filters = options.hasFilters === false || withoutFiles.test(command) ? [] : await findFilters(tau, options);
  const settings = [...(options.config ?? []), ...config, ...filters];
  const overrides = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return await start(tau, [command, ...noPrograms, ...rest], {
    ...options,
    env: { ...options.env, GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(overrides) },
  });
}

/** The settings that turn off every filter that is configured: without a command, the content stays as it is. */
async function findFilters(tau: Spawner, options: GitOptions): Promise<[key: string, value: string][]> {
  const args = ["config", "--null", "--name-only", "--get-regexp", String.raw`^filter\..*\.(clean|smudge|process)$`];
  const { stdout } = await start(tau, args, { cwd: options.cwd, ...(options.env && { env: options.env }) });
  const keys = new Set(stdout.toString("utf8").split("\0").filter(Boolean));
  const names = new Set([...keys].map((key) => key.slice(0, key.lastIndexOf("."))));
  return [
    ...[...keys].map((key): [string, string] => [key, ""]),
    ...[...names].map((name): [string, string] => [`${name}.required`, "false"]),
  ];
}

async function start(tau: Spawner, args: readonly string[], options: GitOptions): Promise<GitResult> {
  const { cwd, allowedPaths, network, input, signal } = options;
  const program = await tau.spawn("git", ["--no-pager", ...args], {
    cwd,
    inherits: inherited,
    env: { ...options.env, ...env },
    ...((allowedPaths || network) && {
      sandbox: { ...(allowedPaths && { allowedPaths }), ...(network && { network }) },
    }),
  });
  const stopFollowing = followSignal(signal, () => void program.end());
  program.stdin.end(input);
  const [stdout, stderr, status] = await Promise.all([buffer(program.stdout), readText(program.stderr), program.exit]);
  stopFollowing();
  const failure = status.kind === "failed" ? status.message : "";
  const hasEnded = status.kind === "exited" && !signal?.aborted;
  return { code: hasEnded ? status.code : 1, stdout, stderr: stderr + failure };
}

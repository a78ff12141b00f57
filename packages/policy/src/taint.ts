/**
 * Finds calls that bring text into a session which neither the user nor the project wrote: such text may tell the model to
 * send secrets away. Pure.
 */
import { basename, resolve } from "node:path";
import { isWithin } from "@tau/tools/platform";
import { resolvePathRules, ruledStanding, type PathRules } from "./paths.ts";
import type { Decision, ExecFacts } from "./policy.ts";

/** Why a session is tainted: by its first such call. */
export interface Taint {
  source: "outside_file" | "network" | "message" | "tool";
  /** The path, the host, the program or the author, for people. */
  detail: string;
}

export interface TaintContext {
  rules: PathRules;
  /** Where relative paths begin. */
  cwd: string;
}

/** Returns what a call that was allowed brings in; undefined if it is the user's, the project's or the system's. */
export function findTaint(
  { request, exec, textFrom }: Pick<Decision, "request" | "exec" | "textFrom">,
  context: TaintContext,
): Taint | undefined {
  if (textFrom !== undefined) return { source: "tool", detail: textFrom };
  const { capability, target } = request;
  switch (target.kind) {
    case "host":
      return { source: "network", detail: target.host };
    case "path": {
      const isOutside = ruledStanding(target.path, "read", resolvePathRules(context.rules)).rule === "outside";
      return capability === "read" && isOutside ? { source: "outside_file", detail: target.path } : undefined;
    }
    case "command": {
      const program = findNetworkProgram(exec, target.command);
      if (program !== undefined) return { source: "network", detail: program };
      const path = findOutsidePath(target.command, exec?.commands ?? [], context);
      return path === undefined ? undefined : { source: "outside_file", detail: path };
    }
    case "name":
      return undefined;
  }
}

/** The end of a sentence, for questions. */
export function describeTaint({ source, detail }: Taint): string {
  switch (source) {
    case "outside_file":
      return `this session has read ${detail}, which is not of this project`;
    case "network":
      return `this session has read text from the network (${detail})`;
    case "tool":
      return `this session has read text from ${detail}`;
    case "message":
      return `this session has a message from ${detail}`;
  }
}

const networkPrograms =
  /^(?:curl|wget|wget2|aria2c|axel|httpie|https?|xh|xhs|lynx|w3m|e?links2?|gh|glab|ssh|scp|sftp|rsync|nc|ncat|netcat|socat|telnet|ftp|lftp|dig|nslookup|host|svn|aws|gcloud|az|rclone|yt-dlp)$/;
const gitFetches = /^(?:clone|fetch|pull|ls-remote|submodule|remote|lfs)$/;
const packageViews = /^(?:view|info|show|search|v)$/;
const interpreters = /^(?:python[\d.]*|node|deno|bun|perl|ruby|php|lua|Rscript|pwsh|osascript)$/;
const networkClasses: readonly unknown[] = ["exfiltration", "pipe_to_shell", "reverse_shell"];

/** The program of a command line that talks to the network, as far as is known; undefined if there is none. */
export function findNetworkProgram(exec: Pick<ExecFacts, "class" | "commands"> | undefined, command: string) {
  const found = exec?.commands.find((argv) => usesNetwork(argv))?.[0];
  if (found !== undefined) return basename(found);
  if (/\/dev\/(?:tcp|udp)\//.test(command)) return "/dev/tcp";
  return networkClasses.includes(exec?.class) ? (exec?.commands[0]?.[0] ?? "a command") : undefined;
}

function usesNetwork(argv: readonly string[]): boolean {
  const program = basename(argv[0] ?? "");
  const words = argv.slice(1);
  if (networkPrograms.test(program)) return true;
  if (program === "git") return words.some((word) => gitFetches.test(word));
  if (/^(?:npm|pnpm|yarn|pip3?|cargo|gem)$/.test(program)) return packageViews.test(words[0] ?? "");
  return interpreters.test(program) && words.some((word) => /:\/\/|\bsockets?\b|\bconnect\b/.test(word));
}

/** Directories of the system, which are not text of strangers. */
const systemDirectories = ["/bin", "/dev", "/etc", "/lib", "/lib64", "/nix", "/opt", "/proc", "/sbin", "/sys", "/usr"];

/** A path that a command names, also in a redirection, and that is neither in the workspace nor the system's. */
function findOutsidePath(command: string, commands: ExecFacts["commands"], { rules, cwd }: TaintContext) {
  const { roots, readable, home } = resolvePathRules(rules);
  const known = [...roots, ...readable, ...systemDirectories, cwd];
  const typed = command.match(/(?<![\w./:-])(?:~|\.\.?(?=\/)|\.\.|(?=\/))\/?[^\s"'`;|&<>()=]*/g) ?? [];
  const words = [...typed, ...commands.flatMap((argv) => argv.slice(1))];
  return words
    .filter((word) => /^(?:~(?:\/|$)|\.\.?(?:\/|$)|\/.)/.test(word))
    .map((word) => resolve(cwd, word.replace(/^~(?=\/|$)/, home)))
    .find((path) => !known.some((directory) => isWithin(directory, path)));
}

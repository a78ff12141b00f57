/**
 * Where package managers keep their caches inside: in directories of the project's own. The user's caches hold code that
 * runs outside of the sandbox, so commands neither write nor share them. Pure.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";

/** From the variable that a package manager reads to its directory. */
const directories: Readonly<Record<string, string>> = {
  XDG_CACHE_HOME: "xdg",
  npm_config_cache: "npm",
  pnpm_config_store_dir: "pnpm",
  YARN_CACHE_FOLDER: "yarn",
  YARN_GLOBAL_FOLDER: "yarn-berry",
  BUN_INSTALL_CACHE_DIR: "bun",
  DENO_DIR: "deno",
  COREPACK_HOME: "corepack",
  PIP_CACHE_DIR: "pip",
  UV_CACHE_DIR: "uv",
  POETRY_CACHE_DIR: "poetry",
  PIPENV_CACHE_DIR: "pipenv",
  PRE_COMMIT_HOME: "pre-commit",
  CARGO_HOME: "cargo",
  GOCACHE: "go-build",
  GOMODCACHE: "go-mod",
  GRADLE_USER_HOME: "gradle",
  BUNDLE_USER_CACHE: "bundle",
  COMPOSER_CACHE_DIR: "composer",
  NUGET_PACKAGES: "nuget",
  DOTNET_CLI_HOME: "dotnet",
  CCACHE_DIR: "ccache",
  TURBO_CACHE_DIR: "turbo",
};

/** Returns the directory of a workspace, below our own. */
export const getCacheDirectory = (agentDir: string, workspace: string): string =>
  join(agentDir, "cache", createHash("sha256").update(workspace).digest("hex").slice(0, 16));

/** pnpm before version 11 reads this one. npm complains about it every time, so it is set only where pnpm may be run. */
const olderPnpm = "npm_config_store_dir";

export function getCacheVariables(cache: string, { mayRunPnpm }: { mayRunPnpm: boolean }): Record<string, string> {
  const all = mayRunPnpm ? { ...directories, [olderPnpm]: directories["pnpm_config_store_dir"]! } : directories;
  return Object.fromEntries(Object.entries(all).map(([name, directory]) => [name, join(cache, directory)]));
}

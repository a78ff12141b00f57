/** Finds a package by its name in the directories where npm puts packages. Links are followed. */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { expandHome } from "../files/agent-dir.ts";
import { getKind, orUndefinedSync } from "./read-directory.ts";

/** `path` may be absolute, as settings make it: then its last names are the name of the package. */
export function findPackage(path: string, directories: readonly string[]): string | undefined {
  const name = /(?:^|[\\/])((?:@[\w.-]+[\\/])?[\w][\w.-]*)$/.exec(path)?.[1];
  if (name === undefined) return undefined;
  return directories.map((directory) => join(directory, name)).find((candidate) => getKind(candidate) === "directory");
}

/** Where `npm install --global` and `npm link` put packages, as far as it can be known without asking npm. */
export function listGlobalDirectories(env: NodeJS.ProcessEnv = process.env): string[] {
  const besideNode = dirname(process.execPath);
  const userFile = env["npm_config_userconfig"] || env["NPM_CONFIG_USERCONFIG"];
  const globalFile = env["npm_config_globalconfig"] || env["NPM_CONFIG_GLOBALCONFIG"];
  const builtInPrefix = env["PREFIX"] || dirname(besideNode);
  const prefixes = [
    env["npm_config_prefix"] || env["NPM_CONFIG_PREFIX"],
    readPrefix(userFile || join(homedir(), ".npmrc"), env),
    readPrefix(globalFile || join(builtInPrefix, "etc", "npmrc"), env),
    builtInPrefix,
    dirname(besideNode),
  ];
  return [
    ...(env["NODE_PATH"]?.split(delimiter).filter((directory) => directory !== "") ?? []),
    ...prefixes.flatMap((prefix) => (prefix ? [join(prefix, "lib", "node_modules")] : [])),
    join(besideNode, "node_modules"),
  ];
}

/** The `prefix` of an `.npmrc`. A relative one is ignored: it would lie in whatever project tau was started. */
function readPrefix(file: string, env: NodeJS.ProcessEnv): string | undefined {
  const text = orUndefinedSync(() => readFileSync(file, "utf8")) ?? "";
  // npm takes the last one. What follows a section belongs to that.
  const [top = ""] = text.split(/^\s*\[/m);
  const written = [...top.matchAll(/^\s*prefix\s*=\s*(.*?)\s*$/gm)].at(-1)?.[1];
  if (written === undefined) return undefined;
  const value = /^(["'])(.*)\1$/.exec(written)?.[2] ?? written.replace(/\s*[;#].*$/, "");
  const path = expandHome(
    value.replace(/\$\{([^}]+)\}/g, (all, name: string) => env[name] ?? all),
    homedir(),
  );
  return isAbsolute(path) ? path : undefined;
}

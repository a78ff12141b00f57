/** Finds a package by its name in the directories where npm puts packages. Links count. */
import { delimiter, dirname, join } from "node:path";
import { getKind } from "../../packages/read-directory.ts";

/** `path` may be absolute, as settings make it: then its last names are the name of the package. */
export function findPackage(path: string, directories: readonly string[]): string | undefined {
  const name = /(?:^|[\\/])((?:@[\w.-]+[\\/])?[\w][\w.-]*)$/.exec(path)?.[1];
  if (name === undefined) return undefined;
  return directories.map((directory) => join(directory, name)).find((candidate) => getKind(candidate) === "directory");
}

/** Where `npm install --global` and `npm link` put packages, as far as it can be known without asking npm. */
export function listGlobalDirectories(env: NodeJS.ProcessEnv = process.env): string[] {
  const besideNode = dirname(process.execPath);
  const prefixes = [env["npm_config_prefix"], env["NPM_CONFIG_PREFIX"], env["PREFIX"], dirname(besideNode)];
  return [
    ...(env["NODE_PATH"]?.split(delimiter).filter((directory) => directory !== "") ?? []),
    ...prefixes.flatMap((prefix) => (prefix ? [join(prefix, "lib", "node_modules")] : [])),
    join(besideNode, "node_modules"),
  ];
}

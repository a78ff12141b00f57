/** How this copy of tau was installed, which decides how it is updated. */
import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";

export type Installation =
  /** By `install.sh`, from an archive. `home` is its directory, if it is one of `install.sh`. */
  | { kind: "archive"; root: string; home?: string }
  | { kind: "npm-global"; prefix: string; modules: string }
  /** Into a directory of its own, as `install.sh` does it without an archive, or into a project. */
  | { kind: "npm-directory"; directory: string; modules: string }
  /** By a package manager that has its own directory for programs of the user. */
  | { kind: "other-manager"; command: string }
  | { kind: "npx" }
  | { kind: "clone"; root: string }
  | { kind: "unknown" };

const otherManagers: readonly (readonly [part: RegExp, command: string])[] = [
  [/\/pnpm\/(?:.*\/)?node_modules\//, "pnpm add --global @tau/cli@latest"],
  [/\/\.bun\/install\/global\//, "bun add --global @tau/cli@latest"],
  [/\/yarn\/(?:.*\/)?global\//, "yarn global add @tau/cli@latest"],
];

/** Looks at the real path of the program, `…/dist/tau.cjs`. `exists` says whether there is a file. */
export function classifyInstallation(program: string, exists: (path: string) => boolean): Installation {
  const tau = dirname(dirname(program));
  const root = dirname(dirname(tau));
  if (exists(join(root, "archive.json"))) {
    const home = dirname(dirname(root));
    return { kind: "archive", root, ...(basename(dirname(root)) === "versions" && { home }) };
  }
  if (exists(join(root, "install.sh")) && exists(join(root, "packages", "cli", "package.json"))) {
    return { kind: "clone", root };
  }
  const path = program.replaceAll("\\", "/");
  const [, above] = /^(.*)\/node_modules\/@tau\/cli\/dist\/tau\.cjs$/.exec(path) ?? [];
  if (above === undefined) return { kind: "unknown" };
  const manager = otherManagers.find(([part]) => part.test(path));
  if (manager) return { kind: "other-manager", command: manager[1] };
  if (/\/_npx\/[^/]+$/.test(above)) return { kind: "npx" };
  const modules = join(above, "node_modules");
  // npm writes it into every directory that it installs into, and not into its prefix.
  if (exists(join(above, "package.json"))) return { kind: "npm-directory", directory: above, modules };
  return { kind: "npm-global", prefix: basename(above) === "lib" ? dirname(above) : above, modules };
}

export function findInstallation(program = process.argv[1] ?? ""): Installation {
  return existsSync(program) ? classifyInstallation(realpathSync(program), existsSync) : { kind: "unknown" };
}

/** Turns the paths that extensions gave for `resources_discover` into what a resource loader adds. */
import { basename, dirname, resolve } from "node:path";
import { expandHome } from "@tau/pi/internal";
import type { DiscoveredPaths } from "../extensions/runner.ts";
import type { PathMetadata } from "../packages/resolved-paths.ts";

export type ExtendedPaths = Record<keyof DiscoveredPaths, { path: string; metadata: PathMetadata }[]>;

export function toExtendedPaths({ skillPaths, promptPaths, themePaths }: DiscoveredPaths, cwd: string): ExtendedPaths {
  const extend = (paths: DiscoveredPaths["skillPaths"]) =>
    paths.map(({ path, extensionPath }) => ({
      path: resolve(cwd, expandHome(path)),
      metadata: createMetadata(extensionPath),
    }));
  return { skillPaths: extend(skillPaths), promptPaths: extend(promptPaths), themePaths: extend(themePaths) };
}

/** The path of an extension without a file is a name in angle brackets. */
function createMetadata(extensionPath: string): PathMetadata {
  const isFile = !extensionPath.startsWith("<");
  const name = isFile ? basename(extensionPath).replace(/\.(ts|js)$/, "") : extensionPath.replace(/[<>]/g, "");
  return {
    source: `extension:${name}`,
    scope: "temporary",
    origin: "top-level",
    ...(isFile && { baseDir: dirname(extensionPath) }),
  };
}

/** Finds the role for files: `modelRoles.paths` of `models.yml`. Pure. */
import { parseGlob } from "@tau/tools/platform";
import { oncePer } from "@tau/ai/internal";
import type { PathRole } from "./models-yml.ts";

interface PathRoleMatch extends PathRole {
  path: string;
}

/**
 * Lists the rules that match a path, in the order of the file and then of the paths. A path is relative to the working
 * directory, or absolute if it is not in it, with slashes. A pattern without a slash is about the name of a file.
 */
export const listPathRoles = (rules: readonly PathRole[], paths: readonly string[]): PathRoleMatch[] =>
  rules.flatMap((rule) => {
    const { matches } = compile(rule);
    return paths.filter((path) => matches(path.replace(/^\//, ""))).map((path) => ({ ...rule, path }));
  });

const compile = oncePer(({ pattern }: PathRole) => parseGlob(pattern.replace(/^\//, "")));

/** Finds credentials that have another name: a hard link has a path of its own, which says nothing about its content. */
import { join } from "node:path";
import { listCredentialPaths } from "../hidden-paths.ts";
import { listNames, lookAtPath } from "../look.ts";
import { type CredentialHomes, isCredentialFile } from "./credential-files.ts";

/** The credential that the file is another name of; undefined if there is none. Directories are searched one level deep. */
export function findLinkedCredential(realPath: string, homes: CredentialHomes): string | undefined {
  const file = lookAtPath(realPath);
  if (!file?.isFile()) return undefined;
  return listCredentialPaths(homes)
    .flatMap((path) => [path, ...listNames(path).map((name) => join(path, name))])
    .filter((path) => isCredentialFile(path, homes))
    .find((path) => {
      const other = lookAtPath(path);
      return other?.isFile() && other.ino === file.ino && other.dev === file.dev;
    });
}

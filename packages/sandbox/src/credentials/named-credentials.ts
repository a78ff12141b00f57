/** Finds the credentials that environment variables lead to, such as `KUBECONFIG`. */
import { delimiter, resolve } from "node:path";
import { isWithin } from "@tau/tools/platform";
import { findRealPath } from "../look.ts";
import { type CredentialPaths, listCredentialVariables } from "./credential-paths.ts";

/** A place that a variable leads to. */
export interface NamedCredential {
  readonly variable: string;
  /** The value of the variable. */
  readonly value: string;
  /** A file or a directory, once as the variable says and once by its real path. */
  readonly path: string;
  /** The credentials below the path. Undefined: the path itself, and everything below it. */
  readonly paths: CredentialPaths | undefined;
}

interface NamedCredentialOptions {
  env: Readonly<Record<string, string | undefined>>;
  /** Where relative values begin. */
  cwd: string;
  home: string;
}

/**
 * The places in the order of the records. A variable that names the home directory or the workspace as a whole is left out:
 * then no file could be opened at all. Devices hold nothing.
 */
export function findNamedCredentials({ env, cwd, home }: NamedCredentialOptions): NamedCredential[] {
  const isTooWide = (path: string) => isWithin(path, home) || isWithin(path, cwd);
  return listCredentialVariables((name) => (env[name] ?? "") !== "").flatMap(({ name, paths }) => {
    const value = env[name]!;
    const spelled = splitValue(value).map((part) => resolve(cwd, part.replace(/^~(?=\/|$)/, home)));
    const all = spelled.flatMap((path) => [path, findRealPath(path) ?? path]);
    return [...new Set(all)]
      .filter((path) => !isWithin("/dev", path) && (paths !== undefined || !isTooWide(path)))
      .map((path) => ({ variable: name, value, path, paths }));
  });
}

/** Kerberos puts a type before the path, and other types name no file. */
function splitValue(value: string): string[] {
  const [, type, rest] = /^([A-Z]{3,}):(.*)$/s.exec(value) ?? [];
  if (type !== undefined) return type === "FILE" || type === "DIR" ? [rest!] : [];
  return value.split(delimiter).filter((part) => part !== "");
}

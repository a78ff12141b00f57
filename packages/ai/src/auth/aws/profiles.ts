/** The profiles of AWS's shared files. A small reader instead of the vendor's SDK, which has 60 packages. */
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { getErrorMessage } from "../../errors.ts";
import type { Env } from "../../platform/platform.ts";
import { MissingCredentials } from "../../protocols/protocol.ts";

/** The settings of a section. */
export type Section = ReadonlyMap<string, string>;

export interface Profiles {
  /** Both files may hold a part of a profile; the credentials file has precedence. Undefined if there is no such profile. */
  get(profile: string): Section | undefined;
  ssoSession(name: string): Section | undefined;
}

export const getHome = (env: Env): string => env("HOME") ?? env("USERPROFILE") ?? homedir();

export async function readProfiles(env: Env): Promise<Profiles> {
  const folder = join(getHome(env), ".aws");
  const [credentials, config] = await Promise.all([
    readIfThere(env("AWS_SHARED_CREDENTIALS_FILE") ?? join(folder, "credentials")),
    readIfThere(env("AWS_CONFIG_FILE") ?? join(folder, "config")),
  ]);
  const [ofCredentials, ofConfig] = [parseSections(credentials), parseSections(config)];
  const inConfig = (profile: string) => ofConfig.get(`profile ${profile}`) ?? ofConfig.get(profile);
  return {
    get(profile) {
      const parts = [inConfig(profile), ofCredentials.get(profile)].filter((part) => part !== undefined);
      return parts.length === 0 ? undefined : new Map(parts.flatMap((part) => [...part]));
    },
    ssoSession: (name) => ofConfig.get(`sso-session ${name}`),
  };
}

/** The text of a file that the configuration names. */
export async function readNamed(path: string): Promise<string> {
  try {
    return (await readFile(path, "utf8")).trim();
  } catch (error) {
    throw unreadable(path, error);
  }
}

async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return "";
    throw unreadable(path, error);
  }
}

/** Names the file, because it may be one that the user has never heard of. */
function unreadable(path: string, error: unknown): MissingCredentials {
  const isDirectory = (error as NodeJS.ErrnoException).code === "EISDIR";
  const reason = isDirectory ? "it is a directory, not a file." : getErrorMessage(error);
  return new MissingCredentials(`AWS credentials could not be read from ${path}: ${reason}`, { cause: error });
}

/** The sections of a file by their names as written, such as `profile work` and `sso-session corp`. */
function parseSections(source: string): Map<string, Map<string, string>> {
  const sections = new Map<string, Map<string, string>>();
  let current: Map<string, string> | undefined;
  // A setting without a value is the head of nested ones, which are indented below it.
  let isNesting = false;
  for (const line of source.split(/\r?\n/)) {
    const [, kind = "", written] =
      /^\s*\[\s*((?:profile|sso-session|services)\s+)?"?([^\]"]+?)"?\s*\]/.exec(line) ?? [];
    const name = written && `${kind.trim()} ${written}`.trim();
    if (name !== undefined) sections.set(name, (current = sections.get(name) ?? new Map()));
    const [, indent, key, value] = /^(\s*)([\w-]+)\s*=\s*(.*?)\s*(?:\s[#;].*)?$/.exec(line) ?? [];
    if (name !== undefined || (key && indent === "")) isNesting = key !== undefined && value === "";
    if (key && value && !isNesting) current?.set(key, value);
  }
  return sections;
}

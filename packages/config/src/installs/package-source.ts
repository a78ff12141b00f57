/** Where a package comes from, as a person writes it. Pure. */
import { isAbsolute, resolve } from "node:path";

export interface NpmSource {
  readonly kind: "npm";
  readonly id: string;
  readonly name: string;
  /** A version, a range or a tag; undefined for the newest. */
  readonly range: string | undefined;
}

export interface GitSource {
  readonly kind: "git";
  /** Without the ref, so that the same repository is one package however it is reached. */
  readonly id: string;
  /** The address as git takes it. */
  readonly url: string;
  /** The parts of the directory it is installed in: the host, then the path. */
  readonly directory: readonly string[];
  /** A branch, a tag or a commit; undefined for the branch that the repository names. */
  readonly ref: string | undefined;
}

export interface LocalSource {
  readonly kind: "local";
  /** The real path; the one below where nobody has looked at the files yet. */
  readonly id: string;
  /** Absolute, as it was written. */
  readonly path: string;
}

/** A plugin that an installed marketplace lists. */
export interface PluginSource {
  readonly kind: "plugin";
  readonly id: string;
  readonly name: string;
  readonly marketplace: string;
}

/** Sources whose packages are fetched, and have an entry in the lock. */
export type RemoteSource = NpmSource | GitSource | PluginSource;
export type PackageSource = RemoteSource | LocalSource;

/** `message` is a whole sentence. */
export type ParsedSource = PackageSource | { readonly kind: "invalid"; readonly message: string };

/** Nothing of it can be read as an option, a path or an address: npm takes all of these as versions too. */
const npmName = /^(?:@[a-z0-9][a-z0-9._~-]*\/)?[a-z0-9][a-z0-9._~-]*$/;
const npmRange = /^[\w.^~<>=|*+ -]+$/;
const gitRef = /^[\w][\w./+-]*$/;
const segment = /^[\w~][\w.~+-]*$/;

/** The name of a plugin or a marketplace. Directories have these names, and terminals show them. */
const pluginName = "[A-Za-z0-9][\\w.-]{0,99}";
const pluginSource = new RegExp(`^(${pluginName})@(${pluginName})$`);

export const isPluginName = (text: string): boolean => new RegExp(`^${pluginName}$`).test(text);

const isLocal = (text: string): boolean => /^(\.{1,2}|~)?\//.test(text) || /^(\.{1,2}|~)$/.test(text);

/** Whether a source is a path, which depends on the directory it is written in. */
export const isLocalSource = (text: string): boolean => parseSource(text, "/").kind === "local";

/** `directory` is where relative paths begin. `fromHome` replaces a `~` at the beginning. */
export function parseSource(
  text: string,
  directory: string,
  fromHome: (path: string) => string = (path) => path,
): ParsedSource {
  const source = text.trim();
  if (source.startsWith("npm:")) return parseNpm(source.slice(4));
  if (source.startsWith("git:") && !source.startsWith("git://")) return parseGit(source.slice(4), source);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(source) || /^[\w.-]+@[\w.-]+:/.test(source)) return parseGit(source, source);
  if (isLocal(source) || isAbsolute(source)) {
    const path = resolve(directory, fromHome(source));
    return { kind: "local", id: path, path };
  }
  const [, name, marketplace] = pluginSource.exec(source) ?? [];
  if (name !== undefined && marketplace !== undefined)
    return { kind: "plugin", id: `plugin:${name}@${marketplace}`, name, marketplace };
  const advice = "Write npm:NAME, git:HOST/PATH, an https address, or a path that begins with ./ or /.";
  return { kind: "invalid", message: `${JSON.stringify(text)} is not the source of a package. ${advice}` };
}

function parseNpm(text: string): ParsedSource {
  const at = text.indexOf("@", 1);
  const name = at === -1 ? text : text.slice(0, at);
  const range = at === -1 ? undefined : text.slice(at + 1);
  if (!npmName.test(name) || name.length > 214 || name === "node_modules")
    return { kind: "invalid", message: `${JSON.stringify(name)} is not the name of an npm package.` };
  if (range !== undefined && (!npmRange.test(range) || range.startsWith("-")))
    return { kind: "invalid", message: `${JSON.stringify(range)} is not a version, a range or a tag of npm.` };
  return { kind: "npm", id: `npm:${name}`, name, range };
}

function parseGit(text: string, source: string): ParsedSource {
  const invalid = (reason: string): ParsedSource => ({
    kind: "invalid",
    message: `${JSON.stringify(source)} is not the source of a package: ${reason}`,
  });
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme !== undefined && !["https", "ssh", "file"].includes(scheme))
    return invalid(`git is used over https, ssh or file, not over ${scheme}.`);
  const { address, ref } = splitRef(text);
  if (ref !== undefined && (!gitRef.test(ref) || ref.includes("..")))
    return invalid(`${JSON.stringify(ref)} is not a branch, a tag or a commit.`);
  const { url, host, path } = locateRepository(address, scheme);
  const directory = [
    host,
    ...path
      .replace(/\/+$/, "")
      .replace(/\.git$/, "")
      .split("/")
      .filter(Boolean),
  ];
  if (directory.length < 2) return invalid("the path of the repository is missing.");
  if (!directory.every((part) => segment.test(part)))
    return invalid("the host and the path may have only letters, digits and the characters . _ ~ + and -.");
  return { kind: "git", id: `git:${directory.join("/")}`, url, directory, ref };
}

/** A ref follows the last `@` of the path; the one before a host belongs to the address. */
function splitRef(text: string): { address: string; ref: string | undefined } {
  const start = /^(?:[a-z][a-z0-9+.-]*:\/\/[^/]*|[\w.-]+@[\w.-]+:|[^/]*)/i.exec(text)?.[0].length ?? 0;
  const at = text.indexOf("@", start);
  return at === -1 ? { address: text, ref: undefined } : { address: text.slice(0, at), ref: text.slice(at + 1) };
}

function locateRepository(address: string, scheme: string | undefined): { url: string; host: string; path: string } {
  if (scheme === "file") return { url: address, host: "file", path: address.slice("file://".length) };
  if (scheme !== undefined) {
    const [authority = "", ...path] = address.slice(scheme.length + 3).split("/");
    // Another user or port in the address does not make it another repository.
    const host = authority.replace(/^.*@/, "").replace(/:\d+$/, "").toLowerCase();
    return { url: address, host, path: path.join("/") };
  }
  const scp = /^[\w.-]+@([\w.-]+):(.*)$/.exec(address);
  if (scp) return { url: address, host: scp[1]!.toLowerCase(), path: scp[2]! };
  if (isAbsolute(address)) return { url: `file://${address}`, host: "file", path: address };
  const [host = "", ...path] = address.split("/");
  return { url: `https://${address}`, host: host.toLowerCase(), path: path.join("/") };
}

/** Links to one directory are the same package. */
export const withRealPath = <Source extends ParsedSource>(
  source: Source,
  toRealPath: (path: string) => string,
): Source => (source.kind === "local" ? { ...source, id: toRealPath(source.path) } : source);

/** Whether an update can never change it. */
export const isPinned = (source: PackageSource): boolean => {
  if (source.kind === "npm")
    return source.range !== undefined && /^v?\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$/.test(source.range);
  return source.kind === "git" && source.ref !== undefined && /^[0-9a-f]{40}$/.test(source.ref);
};

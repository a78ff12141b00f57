/** The `package.json` of a package, or the manifest of a plugin in Claude Code's form. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { asRecord, getErrorMessage, isRecord } from "@tau/ai/internal";
import { type MarketplaceManifest, readMarketplace } from "./marketplace-manifest.ts";
import { type ResourceKind, resourceKinds } from "./package-resources.ts";
import { type PluginParts, readPlugin, readServers } from "./plugin.ts";
import { getKind, orUndefinedSync } from "./read-directory.ts";

export interface Manifest {
  readonly name: string | undefined;
  readonly version: string | undefined;
  readonly main: string | undefined;
  /** The path of its changelog, from its root; empty if it shows none, undefined for the usual one. */
  readonly changelogPath: string | undefined;
  /** The paths and globs that it declares, by kind; undefined if it declares nothing and the usual directories apply. */
  readonly declared: Partial<Record<ResourceKind, readonly string[]>> | undefined;
  /** The MCP servers that it brings, by name, as written: unchecked. */
  readonly servers: Readonly<Record<string, unknown>>;
  readonly dependencies: Readonly<Record<string, string>>;
  /** The names of packages that it expects beside it. */
  readonly peerDependencies: readonly string[];
  /** Maps names that begin with `#` to what they mean in it, as written. */
  readonly imports: Readonly<Record<string, unknown>>;
  /** Whether its `.js` files are ES modules. */
  readonly isModule: boolean;
  /** Whether npm would run something of it. We never do. */
  readonly hasInstallScripts: boolean;
  /** The parts of a plugin that are listed and not used; undefined if it is no plugin. */
  readonly plugin?: PluginParts;
  /** The plugins that it lists; undefined if it is no marketplace. */
  readonly marketplace?: MarketplaceManifest;
}

const maxManifestBytes = 1_000_000;
const installScripts = ["preinstall", "install", "postinstall", "prepare"];

/** Everything in it may be missing or wrong. Undefined if there is no such file, an error if it is not an object of JSON. */
export function loadManifest(directory: string): Manifest | Error | undefined {
  const manifest = loadPackageJson(directory);
  if (manifest instanceof Error || getKind(join(directory, ".claude-plugin")) !== "directory") return manifest;
  const marketplace = readMarketplace(directory);
  const plugin = manifest?.declared ? undefined : readPlugin(directory);
  if (!plugin && !marketplace) return manifest;
  // The directories of a marketplace belong to its plugins.
  const own = plugin ?? { declared: manifest?.declared ?? {} };
  return { ...(manifest ?? emptyManifest), ...own, ...(marketplace && { marketplace }) };
}

function loadPackageJson(directory: string): Manifest | Error | undefined {
  const path = join(directory, "package.json");
  const bytes = getKind(path) === "file" ? orUndefinedSync(() => readFileSync(path)) : undefined;
  if (!bytes) return undefined;
  if (bytes.length > maxManifestBytes) return new Error(`it has more than ${maxManifestBytes} bytes.`);
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8").replace(/^\uFEFF/, ""));
    return isRecord(value) ? parseManifest(value, directory) : new Error("it is not an object.");
  } catch (error) {
    return new Error(getErrorMessage(error), { cause: error });
  }
}

/** Reads the manifest. An invalid one is as if it were not there. */
export function readManifest(directory: string): Manifest | undefined {
  const manifest = loadManifest(directory);
  return manifest instanceof Error ? undefined : manifest;
}

/** Reads the manifest of a plugin that came from a marketplace. The plugin is none itself, also if its repository is. */
export function readPluginManifest(directory: string): Manifest | undefined {
  const manifest = readManifest(directory);
  if (!manifest?.marketplace) return manifest;
  const { marketplace: _others, ...own } = manifest;
  return own;
}

function parseManifest(value: Readonly<Record<string, unknown>>, directory: string): Manifest {
  const { pi, tau, scripts } = value;
  const own = { ...asRecord(pi), ...asRecord(tau) };
  const toText = (each: unknown) => (typeof each === "string" && each !== "" ? each : undefined);
  return {
    name: toText(value["name"]),
    version: toText(value["version"]),
    main: toText(value["main"]),
    changelogPath: typeof own["changelogPath"] === "string" ? own["changelogPath"] : undefined,
    declared: isRecord(pi) || isRecord(tau) ? parseDeclared(own) : undefined,
    servers: readServers(directory, own["mcpServers"]),
    dependencies: { ...toTexts(value["dependencies"]), ...toTexts(value["optionalDependencies"]) },
    peerDependencies: Object.keys(asRecord(value["peerDependencies"])),
    imports: asRecord(value["imports"]),
    isModule: value["type"] === "module",
    hasInstallScripts: isRecord(scripts) && installScripts.some((name) => Object.hasOwn(scripts, name)),
  };
}

function parseDeclared(value: Record<string, unknown>): Partial<Record<ResourceKind, readonly string[]>> {
  const entries = resourceKinds.flatMap((kind) => {
    const list = value[kind];
    const texts = typeof list === "string" ? [list] : Array.isArray(list) ? list : undefined;
    return texts ? [[kind, texts.filter((text) => typeof text === "string")] as const] : [];
  });
  return Object.fromEntries(entries);
}

const toTexts = (value: unknown): Record<string, string> =>
  Object.fromEntries(Object.entries(asRecord(value)).filter(([, text]) => typeof text === "string")) as Record<
    string,
    string
  >;

/** The manifest of a package without a `package.json`. */
export const emptyManifest: Manifest = parseManifest({}, "");

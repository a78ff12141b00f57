/** The `package.json` of a package. */
import { join } from "node:path";
import { asRecord, isRecord, tryParseJson } from "@tau/ai/internal";
import { nodeFileSystem } from "@tau/tools/platform";
import { orUndefined, readWhole } from "../durable-file.ts";
import { type ResourceKind, resourceKinds } from "./package-resources.ts";

export interface Manifest {
  readonly name: string | undefined;
  readonly version: string | undefined;
  readonly main: string | undefined;
  /** The paths and globs that it declares, by kind; undefined if it declares nothing and the usual directories count. */
  readonly declared: Partial<Record<ResourceKind, readonly string[]>> | undefined;
  readonly dependencies: Readonly<Record<string, string>>;
  /** Whether npm would run something of it. We never do. */
  readonly hasInstallScripts: boolean;
}

const maxManifestBytes = 1_000_000;
const installScripts = ["preinstall", "install", "postinstall", "prepare"];

/** Everything in it may be missing or wrong. Undefined if there is no such file, or if it is not an object. */
export async function readManifest(directory: string): Promise<Manifest | undefined> {
  const bytes = await orUndefined(readWhole(nodeFileSystem, join(directory, "package.json"), maxManifestBytes));
  const value = bytes && tryParseJson(bytes.toString("utf8").replace(/^\uFEFF/, ""));
  return isRecord(value) ? parseManifest(value) : undefined;
}

export function parseManifest(value: Readonly<Record<string, unknown>>): Manifest {
  const { pi, tau, scripts } = value;
  const toText = (each: unknown) => (typeof each === "string" && each !== "" ? each : undefined);
  return {
    name: toText(value["name"]),
    version: toText(value["version"]),
    main: toText(value["main"]),
    declared: isRecord(pi) || isRecord(tau) ? parseDeclared({ ...asRecord(pi), ...asRecord(tau) }) : undefined,
    dependencies: { ...toTexts(value["dependencies"]), ...toTexts(value["optionalDependencies"]) },
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

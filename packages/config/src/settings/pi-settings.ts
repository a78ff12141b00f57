/** Settings of pi that tau does not have. A directory or project that pi uses too has them. Pure. */
import { isRecord } from "@tau/ai/internal";
import type { Path } from "../fields/field.ts";

const bookkeeping = "pi keeps track of its own state with it";
const interactive = "it is about pi's terminal interface";
const network = "it is about connections that tau makes in its own way";
const notThere = "tau does not have this feature";

/** By their dotted names, each with why it has no effect. */
export const ignoredSettings: Readonly<Record<string, string>> = {
  lastChangelogVersion: bookkeeping,
  extensionChangelogVersions: bookkeeping,
  trackingId: bookkeeping,
  deviceId: bookkeeping,
  enableInstallTelemetry: "tau sends no telemetry",
  enableAnalytics: "tau sends no telemetry",
  selfUpdateCommand: notThere,
  npmCommand: notThere,
  codemode: notThere,
  cacheWarming: notThere,
  sessionShareDestination: notThere,
  warnings: notThere,
  queueMode: "tau reads steeringMode and followUpMode instead",
  websocketConnectTimeoutMs: network,
  websockets: network,
  "retry.maxDelayMs": "it is an old name of retry.provider.maxRetryDelayMs",
  "terminal.clearOnShrink": interactive,
};

/** The names in a group that are known but not read, as `object` takes them. Editors point to the schema with `$schema`. */
export function listUnused(group: Path): Record<string, string> {
  const prefix = group.map((name) => `${name}.`).join("");
  const own = Object.keys(ignoredSettings).filter(
    (name) => name.startsWith(prefix) && !name.slice(prefix.length).includes("."),
  );
  const quiet = Object.fromEntries(own.map((name) => [name.slice(prefix.length), ""]));
  return group.length === 0 ? { $schema: "", ...quiet } : quiet;
}

/** Finds the ignored settings that a file has. */
export const findIgnored = (settings: unknown): string[] =>
  Object.keys(ignoredSettings).filter((name) => {
    const [first = "", second] = name.split(".");
    if (!isRecord(settings) || !Object.hasOwn(settings, first)) return false;
    const inner = settings[first];
    return second === undefined || (isRecord(inner) && Object.hasOwn(inner, second));
  });

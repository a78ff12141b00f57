/**
 * Which files of tau's own directory hold secrets or let somebody in, as data. Everything else there, such as skills,
 * prompts, packages and session logs, is not listed. Pure.
 */

/** Directories with everything below them. */
const secretDirectories = ["gateway", "profiles", "drafts", "spool", "keys", "undo"];

/** Files, also with an ending after their name: drafts of writes, locks and earlier versions. */
const secretFiles = [
  "auth.json",
  "models.json",
  "models.yml",
  "catalogue.json",
  "mcp.json",
  "mcp-answers.json",
  "history.jsonl",
  "approvals.json",
  "answers.json",
  "trust.json",
  "trusted-projects.json",
  "extension-trust.json",
  "audit.jsonl",
  "costs.jsonl",
];

const settingsFile = "settings.json";

const startsWithAny = (name: string, files: readonly string[]) => files.some((file) => name.startsWith(file));
const isKeyFile = (name: string) => startsWithAny(name, secretFiles) || /\.(?:key|pem|p12|pfx)$/.test(name);

/** `names` is a path below tau's directory, folded. Named agents have files of their own below `agents/NAME`. */
export function isOwnSecret(names: readonly string[]): boolean {
  const [first = "", , third = ""] = names;
  if (first === "agents") return names.length === 3 && isKeyFile(third);
  return secretDirectories.includes(first) || (names.length === 1 && isKeyFile(first));
}

/** Settings decide what tools may do, so they may be read and never written by one. */
export const isOwnSettings = (names: readonly string[]): boolean =>
  names.length === 1 && names[0]!.startsWith(settingsFile);

/** Where tau's directory is below a home directory, if nothing moves it: tau's place, and the one that it takes over of pi. */
export const defaultOwnDirectories: readonly (readonly string[])[] = [[".tau"], [".pi", "agent"]];

/** A path for each kind of secret, for comparing with patterns. */
export const sampleOwnSecrets: readonly (readonly string[])[] = [
  ...[...secretDirectories, ...secretFiles].map((name) => [name]),
  ["gateway", "devices.json"],
  ["gateway", "local.token"],
  ["agents", "name", "auth.json"],
];

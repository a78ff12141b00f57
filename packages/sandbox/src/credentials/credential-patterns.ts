/** Recognises patterns of the shell that may mean a credential file, such as `~/.s*h/id_*`. Pure. */
import { type CredentialPath, type CredentialPaths, getHomePaths, getSystemPaths } from "./credential-paths.ts";
import { defaultOwnDirectories, sampleOwnSecrets } from "./own-files.ts";

/** Makes a regular expression of one part of a pattern. */
type ToRegExp = (part: string) => RegExp;

/** `names` are the parts of the pattern below the home directory or, for the system, below the root. */
export function isCredentialPattern(names: readonly string[], place: "home" | "system", toRegExp: ToRegExp): boolean {
  const parts = names.map((name) => toMatcher(name, toRegExp));
  return getSamples(place).some(
    (sample) => sample.length === parts.length && sample.every((name, index) => parts[index]!(name)),
  );
}

/** Whether a pattern matches secrets of tau's own directory. `names` are the parts below it, or below the home directory. */
export function isOwnPattern(names: readonly string[], place: "agent" | "home", toRegExp: ToRegExp): boolean {
  const parts = names.map((name) => toMatcher(name, toRegExp));
  const prefixes = place === "agent" ? [[]] : defaultOwnDirectories;
  const all = prefixes.flatMap((prefix) => sampleOwnSecrets.map((secret) => [...prefix, ...secret]));
  // A path may also lead below a directory of the list.
  return all.some((sample) => sample.length <= parts.length && sample.every((name, index) => parts[index]!(name)));
}

function toMatcher(name: string, toRegExp: ToRegExp): (sample: string) => boolean {
  const pattern = toRegExp(name.toLowerCase());
  // A pattern for any name leaves out those that begin with a dot.
  return (sample) => pattern.test(sample) && (name.startsWith(".") || !sample.startsWith("."));
}

type Sample = readonly string[];

let samples: { home: readonly Sample[]; system: readonly Sample[] } | undefined;

function getSamples(place: "home" | "system"): readonly Sample[] {
  samples ??= {
    home: [[".ssh"], [".ssh", "id_rsa"], [".ssh", "id_ed25519"], [".aws"], ...listSamples(getHomePaths())],
    system: listSamples(getSystemPaths()),
  };
  return samples[place];
}

const listSamples = (paths: CredentialPaths): Sample[] =>
  [...paths].flatMap(([first, rests]) => rests.map((rest) => [first, ...rest.map(toSample)]));

/** A name that is listed, or one that its pattern matches. */
function toSample(part: CredentialPath[number]): string {
  if (typeof part === "string") return part;
  return part.source.slice(1, -1).replaceAll("\\", "").replaceAll(".*", "") || "1";
}

/** Reads changelogs. Pure. */

interface Version {
  readonly numbers: readonly [number, number, number];
  /** Empty for a release. */
  readonly preview: string;
}

const heading = /^##\s+\[?v?(\d+\.\d+\.\d+\S*)/;

/**
 * The lines of the versions after `before`, up to `version`. The heading of a version is `## 1.2.0`, `## [1.2.0]` or
 * `## 1.2.0 - 2026-01-01`.
 */
export function listChanges(changelog: string, before: string, version: string): string[] {
  const [first, last] = [parseVersion(before), parseVersion(version)];
  if (!first || !last) return [];
  let isNew = false;
  const lines = changelog.split(/\r?\n/).filter((line) => {
    if (!line.startsWith("## ")) return isNew;
    const named = parseVersion(heading.exec(line)?.[1] ?? "");
    isNew = named !== undefined && compareVersions(named, first) > 0 && compareVersions(named, last) <= 0;
    return isNew;
  });
  const text = lines.join("\n").trim();
  return text === "" ? [] : text.split("\n");
}

/** Whether `version` is later than `before`. False if either is no version. */
export function isLater(version: string, before: string): boolean {
  const [next, last] = [parseVersion(version), parseVersion(before)];
  return next !== undefined && last !== undefined && compareVersions(next, last) > 0;
}

function parseVersion(text: string): Version | undefined {
  const [matched, major, minor, patch, preview = ""] = /^v?(\d+)\.(\d+)\.(\d+)(?:-([\w.-]+))?/.exec(text) ?? [];
  return matched === undefined ? undefined : { numbers: [Number(major), Number(minor), Number(patch)], preview };
}

function compareVersions(a: Version, b: Version): number {
  for (const [index, number] of a.numbers.entries()) {
    const difference = number - (b.numbers[index] ?? 0);
    if (difference !== 0) return difference;
  }
  // A preview comes before its release.
  if (a.preview === "" || b.preview === "") return Number(a.preview === "") - Number(b.preview === "");
  return a.preview.localeCompare(b.preview, "en", { numeric: true });
}

/** Names that two extensions have registered. */
import type { LoadExtensionsResult, PiExtension } from "./extension.ts";

/** The first extension of a name keeps it; each later one is an error. */
export function findConflicts(extensions: readonly PiExtension[]): LoadExtensionsResult["errors"] {
  const owners = new Map<string, string>();
  return extensions.flatMap((extension) =>
    listNames(extension).flatMap((name) => {
      const owner = owners.get(name);
      if (owner !== undefined) return [{ path: extension.path, error: `${name} conflicts with ${owner}` }];
      owners.set(name, extension.path);
      return [];
    }),
  );
}

const listNames = ({ tools, flags }: PiExtension): string[] => [
  ...[...tools.keys()].map((name) => `Tool "${name}"`),
  ...[...flags.keys()].map((name) => `Flag "--${name}"`),
];

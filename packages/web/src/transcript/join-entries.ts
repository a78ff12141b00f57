import type { LogView, SessionEntry } from "@tau/protocol";

interface LoadedEntries {
  readonly entries: readonly SessionEntry[];
  readonly hasOlder: boolean;
}

/** Joins what was loaded before, up to where the window begins, and the window. Without a connection between them, the window alone. Pure. */
export function joinEntries(
  loaded: LoadedEntries,
  { entries, hasOlder }: Pick<LogView, "entries" | "hasOlder">,
): LoadedEntries {
  const first = entries[0];
  if (!first) return { entries, hasOlder };
  if (loaded.entries.at(-1) === entries.at(-1) && loaded.entries.length >= entries.length) return loaded;
  const index = loaded.entries.findLastIndex(({ id }) => id === first.id);
  if (index > 0) return { entries: [...loaded.entries.slice(0, index), ...entries], hasOlder: loaded.hasOlder };
  const last = loaded.entries.at(-1);
  if (index < 0 && last && last.id === first.parentId) {
    return { entries: [...loaded.entries, ...entries], hasOlder: loaded.hasOlder };
  }
  return { entries, hasOlder };
}

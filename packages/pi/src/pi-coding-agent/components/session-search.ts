/** Selects the sessions that match a search, and orders them. Pure. */
import { fuzzyMatch } from "@tau/tui";
import type { SessionInfo } from "../session/list-sessions.ts";

export type SortMode = "threaded" | "recent" | "relevance";
export type NameFilter = "all" | "named";

const hasSessionName = ({ name }: SessionInfo): boolean => Boolean(name?.trim());

type Match = (text: string) => number | undefined;

/** `re:…` is a regular expression, "…" a phrase, and every other word is matched loosely. Undefined matches nothing. */
function parseQuery(query: string): Match[] | undefined {
  const trimmed = query.trim();
  if (trimmed.startsWith("re:")) {
    const source = trimmed.slice(3).trim();
    try {
      const pattern = new RegExp(source, "i");
      return source === "" ? undefined : [(text) => toScore(text.search(pattern))];
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      return undefined;
    }
  }
  return [...trimmed.matchAll(/"([^"]*)"|(\S+)/g)].map(([, phrase, word]): Match => {
    if (phrase !== undefined) return (text) => toScore(fold(text).indexOf(fold(phrase)));
    return (text) => {
      const { matches, score } = fuzzyMatch(word ?? "", text);
      return matches ? score : undefined;
    };
  });
}

const fold = (text: string): string => text.toLowerCase().replace(/\s+/g, " ").trim();

/** Earlier is better. */
const toScore = (index: number): number | undefined => (index < 0 ? undefined : index * 0.1);

export function filterAndSortSessions(
  sessions: readonly SessionInfo[],
  query: string,
  sortMode: SortMode,
  nameFilter: NameFilter = "all",
): SessionInfo[] {
  const named = sessions.filter((session) => nameFilter === "all" || hasSessionName(session));
  if (query.trim() === "") return named;
  const matchers = parseQuery(query);
  if (!matchers) return [];
  const found = named.flatMap((session) => {
    const text = `${session.id} ${session.name ?? ""} ${session.allMessagesText} ${session.cwd}`;
    const scores = matchers.map((match) => match(text));
    return scores.includes(undefined) ? [] : [{ session, score: scores.reduce<number>((sum, each) => sum + each!, 0) }];
  });
  if (sortMode !== "recent") {
    found.sort((a, b) => a.score - b.score || b.session.modified.getTime() - a.session.modified.getTime());
  }
  return found.map(({ session }) => session);
}

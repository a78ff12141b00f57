/** The search in the text of sessions. Loaded when somebody searches. */
export type { Excerpt } from "./query.ts";
export {
  listSessionDirectories,
  type SearchFilter,
  type SearchHit,
  type SearchOptions,
  type SearchResult,
  searchSessions,
} from "./search-sessions.ts";

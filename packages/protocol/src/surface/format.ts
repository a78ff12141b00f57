/** Formats numbers and times for people. Pure. */

/** Such as `512`, `1.5k`, `200k` and `1.0M`. */
export function formatTokens(tokens: number): string {
  if (tokens < 1_000) return String(tokens);
  return tokens < 1_000_000 ? `${(tokens / 1_000).toFixed(tokens < 10_000 ? 1 : 0)}k` : `${(tokens / 1e6).toFixed(1)}M`;
}

/** Such as `now`, `5 min`, `3 h` and `12 d`; a date after 30 days, and empty for a timestamp that is none. */
export function formatAge(timestamp: string, nowMs: number): string {
  const seconds = Math.max(0, (nowMs - Date.parse(timestamp)) / 1_000);
  if (Number.isNaN(seconds)) return "";
  if (seconds < 60) return "now";
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`;
  if (seconds < 30 * 86_400) return `${Math.floor(seconds / 86_400)} d`;
  return timestamp.slice(0, 10);
}

export const pluralise = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

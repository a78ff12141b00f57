/** Numbers, times and paths for people. Pure. */

export function formatTokens(tokens: number): string {
  if (tokens < 1_000) return String(tokens);
  return tokens < 1_000_000 ? `${(tokens / 1_000).toFixed(tokens < 10_000 ? 1 : 0)}k` : `${(tokens / 1e6).toFixed(1)}M`;
}

export const formatCost = (dollars: number): string =>
  dollars === 0 ? "$0" : dollars < 0.01 ? "<$0.01" : `$${dollars.toFixed(2)}`;

/** Such as `5 min ago`. */
export function formatAge(timestamp: string, nowMs: number): string {
  const seconds = Math.max(0, (nowMs - Date.parse(timestamp)) / 1_000);
  if (Number.isNaN(seconds)) return "";
  if (seconds < 60) return "now";
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`;
  if (seconds < 30 * 86_400) return `${Math.floor(seconds / 86_400)} d`;
  return timestamp.slice(0, 10);
}

/** The last two parts of a path. */
export function shortenPath(path: string): string {
  const parts = path.split("/").filter(Boolean);
  return parts.length <= 2 ? path : `…/${parts.slice(-2).join("/")}`;
}

export const pluralise = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

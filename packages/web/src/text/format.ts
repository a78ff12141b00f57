/** Costs and paths for people. Pure. */

export const formatCost = (dollars: number): string =>
  dollars === 0 ? "$0" : dollars < 0.01 ? "<$0.01" : `$${dollars.toFixed(2)}`;

/** The last two parts of a path. */
export function shortenPath(path: string): string {
  const parts = path.split("/").filter(Boolean);
  return parts.length <= 2 ? path : `…/${parts.slice(-2).join("/")}`;
}

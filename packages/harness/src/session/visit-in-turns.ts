import { nextTurn } from "./entry-table.ts";

/** How many entries are visited before signals and timers are served: some ten milliseconds of work. */
const entriesPerTurn = 10_000;

/** Calls `visit` with each item. A million entries take seconds, and the program has to react to signals meanwhile. */
export async function visitInTurns<T>(
  items: Iterable<T>,
  visit: (item: T) => void,
  perTurn = entriesPerTurn,
): Promise<void> {
  let count = 0;
  for (const item of items) {
    if (count > 0 && count % perTurn === 0) await nextTurn();
    count++;
    visit(item);
  }
}

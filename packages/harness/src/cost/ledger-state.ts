/**
 * The lines of the ledger of costs, and what they add up to. Amounts are US dollars; a day is `2026-03-01`, a period is a day or a
 * month (`2026-03`), both in local time. A request belongs to the day on which it was reserved. Pure.
 */
import { asRecord, toAmount, tryParseJson } from "@tau/ai/internal";

/** The highest cost of a request that has no answer yet. */
interface OpenReservation {
  readonly day: string;
  readonly cost: number;
  /** The part of the cost that is owed as soon as the request was sent. */
  readonly inputCost: number;
  /** From then on, in milliseconds since 1970, the process that reserved it is taken for dead. */
  readonly untilMs: number;
}

export type LedgerLine =
  | ({ readonly type: "reserved"; readonly id: string } & OpenReservation)
  /** The request still runs. */
  | { readonly type: "renewed"; readonly id: string; readonly untilMs: number }
  /** `id` is the reservation that it settles. Without one, it is the sum of a day. */
  | { readonly type: "spent"; readonly id?: string; readonly day: string; readonly cost: number };

export interface LedgerState {
  /** The sums that were spent, by day. */
  readonly days: ReadonlyMap<string, number>;
  readonly open: ReadonlyMap<string, OpenReservation>;
}

/** Lines that are damaged count for nothing: an append that was cut off was never acknowledged. */
export function readLedger(text: string): LedgerState {
  return addLines({ days: new Map(), open: new Map() }, text.split("\n").flatMap(parseLine));
}

export function addLines(state: LedgerState, lines: readonly LedgerLine[]): LedgerState {
  const days = new Map(state.days);
  const open = new Map(state.open);
  for (const line of lines) {
    switch (line.type) {
      case "reserved": {
        const { type: _type, id, ...reservation } = line;
        open.set(id, reservation);
        break;
      }
      case "renewed": {
        const reservation = open.get(line.id);
        if (reservation) open.set(line.id, { ...reservation, untilMs: line.untilMs });
        break;
      }
      case "spent":
        if (line.id !== undefined) open.delete(line.id);
        days.set(line.day, (days.get(line.day) ?? 0) + line.cost);
        break;
    }
  }
  return { days, open };
}

/** The use of a period. */
interface Use {
  readonly spent: number;
  /** The highest cost of the requests in progress. */
  readonly reserved: number;
}

/**
 * Adds up a day or a month. A reservation that was not renewed in time counts with its input: the process was killed, and the
 * provider has probably received the request.
 */
export function getUse({ days, open }: LedgerState, period: string, nowMs: number): Use {
  let spent = 0;
  let reserved = 0;
  for (const [day, cost] of days) if (day.startsWith(period)) spent += cost;
  for (const { day, cost, inputCost, untilMs } of open.values()) {
    if (!day.startsWith(period)) continue;
    if (untilMs > nowMs) reserved += cost;
    else spent += inputCost;
  }
  return { spent, reserved };
}

/** The shortest lines with the same sums: one for each day since the beginning of last month, and one for each open reservation. */
export function compactLedger({ days, open }: LedgerState, today: string, nowMs: number): LedgerLine[] {
  const reservations = [...open].filter(([, { untilMs }]) => untilMs > nowMs);
  const expired = [...open.values()].filter(({ untilMs }) => untilMs <= nowMs);
  const lost = expired.map(({ day, inputCost }) => ({ type: "spent", day, cost: inputCost }) as const);
  const sums = addLines({ days, open: new Map() }, lost).days;
  const first = getMonthBefore(today);
  return [
    ...[...sums].filter(([day]) => day >= first).map(([day, cost]) => ({ type: "spent", day, cost }) as const),
    ...reservations.map(([id, reservation]) => ({ type: "reserved", id, ...reservation }) as const),
  ];
}

export const formatLines = (lines: readonly LedgerLine[]): string =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join("");

export const getMonth = (day: string): string => day.slice(0, "2026-03".length);

function getMonthBefore(day: string): string {
  const [year, month] = [Number(day.slice(0, 4)), Number(day.slice(5, 7))];
  return month === 1 ? `${year - 1}-12` : `${year}-${String(month - 1).padStart(2, "0")}`;
}

function parseLine(text: string): LedgerLine[] {
  const { type, id, day, cost, inputCost, untilMs } = asRecord(tryParseJson(text));
  const isDay = typeof day === "string" && /^\d{4}-\d\d-\d\d$/.test(day);
  if (type === "spent" && isDay) {
    return [{ type, day, cost: toAmount(cost), ...(typeof id === "string" && { id }) }];
  }
  if (typeof id !== "string") return [];
  if (type === "renewed") return [{ type, id, untilMs: toTime(untilMs) }];
  if (type !== "reserved" || !isDay) return [];
  const amounts = { cost: toAmount(cost), inputCost: toAmount(inputCost), untilMs: toTime(untilMs) };
  return [{ type, id, day, ...amounts }];
}

/** Milliseconds since 1970 are more than an amount can be. */
const toTime = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) ? value : 0);

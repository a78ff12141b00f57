/**
 * The ledger of costs: `record/costs` of a storage, by default `costs.jsonl` in the user's directory. All processes append to it. The
 * highest cost of a request is reserved before it is sent, and replaced by what it cost when it is over.
 */
import type { Clock, Ids } from "@tau/ai";
import { getErrorMessage, SerialQueue } from "@tau/ai/internal";
import { type LogStore, readLog, type Storage, withLog } from "@tau/tools/storage";
import type { Demand } from "../budget/demand.ts";
import { formatDate } from "../prompt/system-prompt.ts";
import { type CostDecision, type CostLimits, type CostPeriod, decideCost } from "./cost-limits.ts";
import { addLines, compactLedger, formatLines, type LedgerLine, type LedgerState, readLedger } from "./ledger-state.ts";

interface CostLedgerOptions {
  storage: Storage;
  clock: Clock;
  ids: Ids;
}

export interface CostReservation {
  /** The longest answer that is paid for; Infinity if nothing limits it. */
  readonly maxTokens: number;
  /**
   * Replaces the reservation by what the request cost; undefined if that is unknown: then it counts with its input. Only the first
   * call has an effect. Never rejects.
   */
  settle(cost: number | undefined): Promise<void>;
}

type CostGrant =
  | { kind: "granted"; reservation: CostReservation }
  | { kind: "spent"; period: CostPeriod; message: string }
  /** Without its ledger, no limit would hold. */
  | { kind: "failed"; message: string };

const ledgerKey = "record/costs";

/** How long a reservation of a process that was killed is in the way of others. */
const reservedMs = 10 * 60_000;
const renewMs = 4 * 60_000;

/** A larger ledger is replaced by its sums. It is read whole for each request. */
const maxBytes = 64 * 1024;

export class CostLedger {
  readonly #options: CostLedgerOptions;
  /** Calls of one process would wait for each other's lease. */
  readonly #queue = new SerialQueue();
  /** Lines that the storage has refused. They are written with the next ones. */
  #unwritten: readonly LedgerLine[] = [];
  #state: LedgerState = readLedger("");
  readonly #open = new Set<CostReservation>();

  constructor(options: CostLedgerOptions) {
    this.#options = options;
  }

  /** The state after the last reservation or settlement of this object. */
  get state(): LedgerState {
    return this.#state;
  }

  async reserve(demand: Demand, limits: CostLimits): Promise<CostGrant> {
    const { clock, ids } = this.#options;
    const id = ids();
    const { inputCost } = demand;
    let day = "";
    let decision: CostDecision | undefined;
    try {
      await this.#write((state) => {
        const nowMs = clock.now();
        day = formatDate(nowMs);
        decision = decideCost(state, limits, demand, { nowMs, today: day });
        if (decision.kind === "spent") return [];
        return [{ type: "reserved", id, day, cost: decision.cost, inputCost, untilMs: nowMs + reservedMs }];
      });
    } catch (error) {
      const why = `Without the ledger of costs, budgets.day and budgets.month cannot be kept, so nothing was sent`;
      return { kind: "failed", message: `${why}: ${getErrorMessage(error)}` };
    }
    if (decision?.kind !== "granted") return decision!;
    return { kind: "granted", reservation: this.#keep(id, { day, inputCost, maxTokens: decision.maxTokens }) };
  }

  /** Resolves when what was reserved and settled until now is written, or refused. Never rejects. */
  async whenWritten(): Promise<void> {
    await this.#queue.whenIdle();
  }

  /** Settles what is open, and resolves when all is written, or refused. Never rejects. */
  async close(): Promise<void> {
    await Promise.all([...this.#open].map((reservation) => reservation.settle(undefined)));
    await this.whenWritten();
  }

  /** Renews a reservation until it is settled. */
  #keep(id: string, { day, inputCost, maxTokens }: { day: string; inputCost: number; maxTokens: number }) {
    const { clock } = this.#options;
    const renew = () => {
      cancel = clock.setTimer(renewMs, renew);
      void this.#append({ type: "renewed", id, untilMs: clock.now() + reservedMs });
    };
    let cancel = clock.setTimer(renewMs, renew);
    const reservation: CostReservation = {
      maxTokens,
      settle: async (cost = inputCost) => {
        if (!this.#open.delete(reservation)) return;
        cancel();
        await this.#append({ type: "spent", id, day, cost });
      },
    };
    this.#open.add(reservation);
    return reservation;
  }

  async #append(line: LedgerLine): Promise<void> {
    this.#unwritten = [...this.#unwritten, line];
    try {
      await this.#write(() => []);
    } catch (error) {
      // The next reservation writes it, or is refused.
      void error;
    }
  }

  /** Writes what `create` makes of the current state, after what could not be written before. */
  #write(create: (state: LedgerState) => readonly LedgerLine[]): Promise<void> {
    const { storage, clock } = this.#options;
    return this.#queue.add(async () => {
      const waiting = this.#unwritten;
      await withLog({ storage, key: ledgerKey, clock }, async (store) => {
        const { text, size } = await readAll(store);
        const before = addLines(readLedger(text), waiting);
        const added = create(before);
        this.#state = addLines(before, added);
        const lines = [...waiting, ...added];
        if (lines.length === 0) return { kind: "appended", position: size };
        if (size > maxBytes) {
          const nowMs = clock.now();
          const sums = compactLedger(this.#state, formatDate(nowMs), nowMs);
          return await store.replace(Buffer.from(formatLines(sums)));
        }
        // A line that a crash has cut off is ended, so that it damages no other.
        const separator = text === "" || text.endsWith("\n") ? "" : "\n";
        return await store.append(Buffer.from(separator + formatLines(lines)), { position: size, sync: true });
      });
      this.#unwritten = this.#unwritten.slice(waiting.length);
    });
  }
}

/** The state of a ledger that others write. */
export const readCostLedger = async (storage: Storage): Promise<LedgerState> =>
  readLedger((await readLog(storage, ledgerKey))?.toString("utf8") ?? "");

async function readAll(store: LogStore): Promise<{ text: string; size: number }> {
  const size = (await store.stat())?.size ?? 0;
  return { text: (await store.read(0, size)).toString("utf8"), size };
}

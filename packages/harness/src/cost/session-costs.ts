/** The limits of the day and of the month as one session sees them. Their code is loaded late: most users set none. */
import type { Clock, Ids } from "@tau/ai";
import type { UsageLimit } from "@tau/protocol";
import { createRecordFiles, type Storage } from "@tau/tools/storage";
import type { CostLedger } from "./cost-ledger.ts";
import type { CostLimits } from "./cost-limits.ts";
import type { LimitedRequests } from "./limited-requests.ts";

interface SessionCostsParts {
  /** Undefined: files of the agent directory. */
  storage: Storage | undefined;
  agentDir: string;
  clock: Clock;
  ids: Ids;
  /** Called for each request: settings change. */
  getLimits: () => CostLimits;
  warn: (message: string) => void;
  onClose: (close: () => Promise<void>) => void;
}

export class SessionCosts {
  readonly #parts: SessionCostsParts;
  #ledger: CostLedger | undefined;

  constructor(parts: SessionCostsParts) {
    this.#parts = parts;
  }

  getLimits(): CostLimits {
    return this.#parts.getLimits();
  }

  /** Call it once, for the first request that a limit applies to. */
  async open(): Promise<LimitedRequests> {
    const { clock, ids, warn, onClose } = this.#parts;
    const { CostLedger } = await import("./cost-ledger.ts");
    const { LimitedRequests } = await import("./limited-requests.ts");
    const ledger = new CostLedger({ storage: this.#storage, clock, ids });
    this.#ledger = ledger;
    onClose(() => ledger.close());
    return new LimitedRequests({ ledger, clock, warn });
  }

  /** Reads what is left of each limit that is set, once what this session has spent is written. */
  async readLimits(): Promise<readonly UsageLimit[]> {
    const limits = this.getLimits();
    if (limits.day === undefined && limits.month === undefined) return [];
    const { readCostLimits } = await import("./read-cost-limits.ts");
    await this.#ledger?.whenWritten();
    return await readCostLimits(this.#storage, limits, this.#parts.clock.now());
  }

  get #storage(): Storage {
    const { storage, agentDir, clock, ids } = this.#parts;
    return storage ?? createRecordFiles({ agentDir, clock, ids });
  }
}

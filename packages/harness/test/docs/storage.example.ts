import type { AI } from "@tau/ai";
import { createAgent, type SimpleAgent } from "@tau/harness";
import { createMemoryStorage, type Storage } from "@tau/harness/session";

/** Lives as long as the program; SQLite, Postgres and files have the same methods. */
export const storage: Storage = createMemoryStorage();

/** The agent of one customer, which any process with this storage continues. */
export const openAgent = (ai: AI, customerId: string): SimpleAgent =>
  createAgent({ ai, storage, session: `customer-${customerId}` });

/** Names of people, which events of Slack do not have. */
import type { Clock } from "@tau/ai";
import { isRecord, SerialQueue } from "@tau/ai/internal";
import type { SlackApi } from "./slack-api.ts";

interface StoredName {
  readonly name: string;
  readonly expiresAtMs: number;
}

const maxAgeMs = 60 * 60_000;
/** After a failure, the id is the name for this time. */
const retryAfterMs = 60_000;
const maxNames = 1_000;

export class SlackNames {
  readonly #api: SlackApi;
  readonly #clock: Clock;
  readonly #names = new Map<string, StoredName>();
  /** Answers in the order of the questions, so that messages stay in order too. */
  readonly #queue = new SerialQueue();

  /** The calls of `api` should not take long: messages wait for them. */
  constructor(api: SlackApi, clock: Clock) {
    this.#api = api;
    this.#clock = clock;
  }

  /** Returns the id of somebody whose name cannot be found out. */
  async get(userId: string): Promise<string> {
    return await this.#queue.add(async () => {
      const stored = this.#names.get(userId);
      if (stored && stored.expiresAtMs > this.#clock.now()) return stored.name;
      const answer = await this.#api.call("users.info", { user: userId });
      const found = answer.kind === "ok" ? readName(answer.result["user"]) : "";
      this.#names.delete(userId);
      const lifetimeMs = found === "" ? retryAfterMs : maxAgeMs;
      const name = found || userId;
      this.#names.set(userId, { name, expiresAtMs: this.#clock.now() + lifetimeMs });
      if (this.#names.size > maxNames) this.#names.delete(this.#names.keys().next().value!);
      return name;
    });
  }
}

function readName(user: unknown): string {
  const { profile, real_name: realName, name } = toFields(user);
  const { display_name: displayName } = toFields(profile);
  return [displayName, realName, name].find((text): text is string => typeof text === "string" && text !== "") ?? "";
}

const toFields = (value: unknown): Readonly<Record<string, unknown>> => (isRecord(value) ? value : {});

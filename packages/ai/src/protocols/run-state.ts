import type { Clock, Random } from "../clock.ts";
import type { Context } from "../context.ts";
import type { AssistantMessageEventStream } from "../event-stream.ts";
import type { AssistantMessageDiagnostic } from "../message.ts";
import type { Model } from "../model.ts";
import type { StreamOptions } from "../options.ts";
import type { Env } from "../platform/platform.ts";
import type { DegradedKind } from "./degrade.ts";
import type { EncodedRequest, Protocol } from "./protocol.ts";

/** The state of one request over all its attempts. */
export interface Run {
  readonly protocol: Protocol;
  readonly model: Model;
  readonly context: Context;
  readonly options: StreamOptions;
  /** Its payload is replaced if the provider rejects a part of it. */
  encoded: EncodedRequest;
  /** The payload that was sent last, after `onPayload`, and its length as JSON. */
  sent: unknown;
  sentLength: number;
  /** The kinds of content that were left out of the payload because the provider rejected them. */
  readonly degradedKinds: Set<DegradedKind>;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly random: Random;
  /** Where credentials are looked up. */
  readonly env: Env;
  /** Where proxies and certificates are looked up. */
  readonly networkEnv: Env;
  readonly stream: AssistantMessageEventStream;
  /** Collected over all attempts and added to the message at the end. */
  readonly diagnostics: AssistantMessageDiagnostic[];
}

export interface Limits {
  maxRetries: number;
  maxDelayMs: number;
  totalMs: number;
  idleMs: number;
  /** Time limit for the first content. */
  firstMs: number;
}

import type { AwsCredentials } from "../auth/aws-credentials.ts";
import type { Send } from "../transport/http.ts";
import type { OpenSocket } from "../transport/socket.ts";

/** Looks up one environment variable. */
export type Env = (name: string) => string | undefined;

/**
 * The differences between Node, browsers and servers at the edge. `#platform` resolves to one of the implementations beside
 * this file; besides them, only `#models` and `#schema-engine` have more than one.
 */
export interface Platform {
  env: Env;
  /** Milliseconds since an arbitrary start; never decreases. */
  monotonic(): number;
  /** A random UUID. */
  uuid(): string;
  send: Send;
  /** Opens a WebSocket that sends headers with the upgrade. */
  openSocket: OpenSocket;
  /** Credentials from AWS's shared files and container endpoints; undefined when there are none. */
  awsCredentials(env: Env, profile: string | undefined): Promise<AwsCredentials | undefined>;
  /** An access token from Google's application default credentials; undefined when there are none. */
  googleAccessToken(env: Env): Promise<string | undefined>;
}

import type { AwsCredentials } from "../auth/aws-credentials.ts";
import type { Model } from "../model.ts";
import type { Send } from "../transport/http.ts";
import type { OpenSocket } from "../transport/socket.ts";

/** Looks up one environment variable. */
export type Env = (name: string) => string | undefined;

/** A model as the catalogue's files hold it: the provider is the file. */
export type CatalogModel = Omit<Model, "provider">;

/**
 * The differences between Node and a browser. `#platform` resolves to one of the two implementations beside this file;
 * nothing else in this package may touch Node.
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
  /** The built-in catalogue of one provider; undefined where there is none. Synchronous: one file, read once. */
  readCatalog(provider: string): CatalogModel[] | undefined;
  /** The models that the catalogue had once, by provider. Synchronous: one file, read once. */
  readRetiredModels(): Readonly<Record<string, CatalogModel[]>>;
  /** Credentials from AWS's shared files and container endpoints; undefined when there are none. */
  awsCredentials(env: Env, profile: string | undefined): Promise<AwsCredentials | undefined>;
  /** An access token from Google's application default credentials; undefined when there are none. */
  googleAccessToken(env: Env): Promise<string | undefined>;
}

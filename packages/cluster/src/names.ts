/** The names of everything that a cluster keeps in NATS. */
import { createHash } from "node:crypto";
import type { LogKey } from "@tau/harness/session";
import { getLogId } from "@tau/tools/storage";

/** Into how many streams the logs are divided. It must never change: the hash of an id chooses the stream. */
const logStreamCount = 16;

export const leaseBucket = "tau-leases";
export const nodeBucket = "tau-nodes";
export const catalogueBucket = "tau-sessions";
export const keyBucket = "tau-keys";
/** The sessions that webhooks share by name. */
export const hookBucket = "tau-hooks";
export const inboxStream = "tau-inbox";
export const scheduleStream = "tau-schedules";
export const scheduleSubject = "tau.schedules";
export const channelStream = "tau-channels";
/** The log of what happens in channels. */
export const channelSubject = "tau.channels";

export const logStreams: readonly string[] = Array.from({ length: logStreamCount }, (_, index) => logStream(index));

function logStream(index: number): string {
  return `tau-log-${String(index).padStart(2, "0")}`;
}

/** Returns the subjects that a stream of logs takes. */
export const logSubjects = (stream: string): string => `tau.log.${stream.slice(-2)}.*`;

export interface LogPlace {
  stream: string;
  subject: string;
}

/** The name of a log: of a session, its id. */
export const toLogName = (key: LogKey): string => (key.startsWith("session/") ? getLogId(key) : key);

/** The key of a log with this name; undefined for a blob. */
export const toLogKey = (name: string): LogKey | undefined =>
  name.startsWith(blobStart) ? undefined : ((name.includes("/") ? name : `session/${name}`) as LogKey);

const blobStart = "blob/";

/** Names the log that has a blob of another. */
export const toBlobName = (logName: string, name: string): string => `${toBlobStart(logName)}${name}`;

/** The beginning of the names of all blobs of a log. */
export const toBlobStart = (logName: string): string => `${blobStart}${logName}/`;

/** Where the log of a session is. */
export function placeLog(sessionId: string): LogPlace {
  const stream = logStream(createHash("sha256").update(sessionId).digest()[0]! % logStreamCount);
  return { stream, subject: `tau.log.${stream.slice(-2)}.${toToken(sessionId)}` };
}

/** Ids of sessions are letters, digits, `-`, `_` and `.`; a dot would end a part of a subject. */
export const toToken = (id: string): string => id.replaceAll(".", "=");

export const fromToken = (token: string): string => token.replaceAll("=", ".");

export const keySubject = (bucket: string, key: string): string => `$KV.${bucket}.${key}`;

export const bucketStream = (bucket: string): string => `KV_${bucket}`;

/** Headers of messages. */
export const headerNames = {
  /** Chosen by the writer for this message alone. That of a log also says where its bytes are; see `formatLogId`. */
  id: "Tau-Id",
  /** The content continues in the next message. */
  more: "Tau-More",
  /** The node that wrote it. In a log, the first message of each writer has it. */
  node: "Tau-Node",
} as const;

/** The id of a log's message, in its parts. Every header costs each append, so there is one. */
interface LogId {
  /** Differs for each message. */
  unique: string;
  /** Where in the log its bytes begin. */
  position: number;
  /** That of the writer's lease, and 0 without one. */
  epoch: number;
  /** Its bytes are valid when the last part has come. */
  hasMore: boolean;
}

export const formatLogId = ({ unique, position, epoch, hasMore }: LogId): string =>
  `${unique} ${position} ${epoch}${hasMore ? " more" : ""}`;

export function parseLogId(text: string): LogId {
  const [unique = "", position, epoch, more] = text.split(" ");
  return { unique, position: Number(position), epoch: Number(epoch), hasMore: more === "more" };
}

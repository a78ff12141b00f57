/** Messages between the host and the process of an extension. */
import type { AgentToolUpdate } from "@tau/agent";
import type { ExtensionEvent, ExtensionEventName } from "../api/events.ts";
import type { ModelRouteRequest } from "../api/virtual-model.ts";
import type { LifecyclePhase, Manifest } from "./manifest.ts";

/** Why a hostcall failed. */
export type HostcallErrorCode = "denied" | "timeout" | "io" | "invalid_request" | "internal";

export interface HostcallFailure {
  code: HostcallErrorCode;
  message: string;
}

/** Sent to the process of an extension at its start. */
export interface ChildInit {
  /** The file of the extension. */
  path: string;
  name: string;
  /** The directory that the extension is in. */
  root: string;
  /** The paths that are mounted for it, besides `/proc` and `/dev`. */
  visible: readonly string[];
  /** The project, if it is mounted. */
  workspace?: string;
  /** The directory among them that it can change without asking. */
  temporary: string;
}

/** An event as data. */
export type CrossingEvent = { type: ExtensionEventName } & Record<string, unknown>;

/** A call of something that the extension registered. */
export type ChildCall =
  /** `handlerId`: which of its handlers of this event, see `Manifest`. */
  | { kind: "event"; name: ExtensionEventName; handlerId: number; event: CrossingEvent }
  | { kind: "tool"; name: string; toolCallId: string; params: unknown }
  | { kind: "lifecycle"; name: string; phase: LifecyclePhase; toolCallId: string; value: unknown }
  | { kind: "command"; name: string; args: string }
  | { kind: "completions"; name: string; prefix: string }
  | { kind: "shortcut"; key: string }
  /** `name`: that of a virtual model. `request`: without its signal. */
  | { kind: "route"; name: string; request: Omit<ModelRouteRequest, "signal"> };

export type HostMessage =
  | { type: "init"; init: ChildInit }
  | { type: "call"; id: number; call: ChildCall }
  /** Aborts the signal of a call. */
  | { type: "abort"; id: number }
  /** The end of a hostcall. */
  | { type: "reply"; id: number; value?: unknown; error?: HostcallFailure }
  /** An update of a tool that a hostcall executes. */
  | { type: "progress"; id: number; update: AgentToolUpdate }
  /** Events that nobody waits for, of about one frame of a screen. */
  | { type: "stream"; items: readonly StreamItem[] }
  /** The current run was aborted. */
  | { type: "run_aborted"; run: number }
  | { type: "bus"; channel: string; data: unknown }
  | { type: "ping" };

export type StreamItem =
  /** A step of the message that is streamed, and the message after it. */
  | { step: Record<string, unknown>; message: unknown }
  /** Pieces of one block, a step each. `block`: what they have made of it, where they do not say it themselves. */
  | { type: string; contentIndex: number; texts: readonly string[]; block?: unknown }
  | { event: ExtensionEvent };

export type ChildMessage =
  /** Its own code is loaded, and none of the extension's yet. */
  | { type: "ready" }
  /** The extension is loaded. */
  | { type: "loaded"; manifest: Manifest }
  | { type: "failed"; message: string }
  /** It registered something after it was loaded. */
  | { type: "registered"; manifest: Manifest }
  | {
      type: "answer";
      id: number;
      value?: unknown;
      changed?: Record<string, unknown> | undefined;
      error?: { message: string };
    }
  | { type: "update"; id: number; update: AgentToolUpdate }
  | { type: "hostcall"; id: number; method: string; args: readonly unknown[] }
  | { type: "cancel"; id: number }
  | { type: "problem"; message: string }
  | { type: "pong" };

/** Over the second connection, on which the extension waits for each answer. */
export interface SyncRequest {
  method: string;
  args: readonly unknown[];
}
export type SyncReply = { value?: unknown; error?: HostcallFailure };

export interface HttpReply {
  status: number;
  statusText: string;
  headers: readonly (readonly [string, string])[];
  body: string;
}

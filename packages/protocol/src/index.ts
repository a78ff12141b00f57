export type { Command, CommandName, CommandRequest, CommandResponse } from "./command.ts";
export { type EventEnvelope, unwrapEvent, type WireEventName, wrapEvent } from "./envelope.ts";
export type {
  Approval,
  LifecycleEvent,
  QueuedMessage,
  SessionEvent,
  SessionFact,
  TerminationReason,
  UpdateType,
  WireEntry,
  WireStopReason,
  WireUsage,
} from "./event.ts";
export {
  getBranch,
  emptyView,
  type LiveMessage,
  type LiveTool,
  type LiveView,
  type LogView,
  reduce,
  type View,
  viewOfLog,
} from "./view.ts";

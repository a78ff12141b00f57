/** The laws that are checked when a simulation has ended, and at every request. */
import type { AssistantMessage, ToolCall } from "@tau/ai";
import type { AgentEvent, AgentMessage } from "../../src/types.ts";
import { type Script, toolNames } from "./script.ts";

/** Every reason for which the run of a script may fail. Any other is a defect of the loop. */
export const plannedReasons = /planned failure of|was aborted|ended before its answer was complete/;

/** A message that the user queued. */
export interface Queued {
  message: AgentMessage;
  queue: "steering" | "followUp";
  /** The queue was cleared. */
  isCleared: boolean;
}

/** The observed run, and a record of the laws that it violates. */
export interface Observation {
  readonly script: Script;
  readonly events: readonly AgentEvent[];
  readonly queued: readonly Queued[];
  check(holds: boolean, violation: string, detail?: string | number): void;
}

export const isSame = <T>(a: readonly T[], b: readonly T[]) =>
  a.length === b.length && a.every((item, index) => item === b[index]);

export const isFailed = ({ stopReason }: AssistantMessage) => stopReason === "error" || stopReason === "aborted";

export const getToolCalls = (message: AssistantMessage) => message.content.filter((block) => block.type === "toolCall");

/** Every answer that did not fail is followed by the results of its calls, one each, in order; there are no others. */
export function checkTranscript(observation: Observation, messages: readonly AgentMessage[], detail: string): void {
  const missing: string[] = [];
  for (const message of messages) {
    if (message.role === "toolResult") {
      observation.check(missing.shift() === message.toolCallId, "a result belongs to no call", detail);
      continue;
    }
    observation.check(missing.length === 0, "a call has no result", detail);
    missing.length = 0;
    if (message.role === "assistant" && !isFailed(message)) missing.push(...getToolCalls(message).map(({ id }) => id));
  }
  observation.check(missing.length === 0, "a call has no result", detail);
}

/** The calls of one answer that have not ended, in the order of the answer. */
class OpenCalls {
  readonly #isOrdered: boolean;
  #unstarted: ToolCall[];
  #executing: ToolCall[] = [];

  constructor(calls: readonly ToolCall[], { execution }: Script) {
    this.#unstarted = [...calls];
    this.#isOrdered = execution === "ordered" && calls.length > 1;
  }

  get isEmpty(): boolean {
    return this.#unstarted.length + this.#executing.length === 0;
  }

  isExecuting = ({ toolCallId }: { toolCallId: string }) => this.#executing.some(({ id }) => id === toolCallId);

  /** Returns the law that the start violates, if it does. */
  start({ args }: { args: unknown }): string | undefined {
    // Two calls may share an id, but not their arguments.
    const index = this.#unstarted.findIndex((call) => call.arguments === args);
    const [call] = index < 0 ? [] : this.#unstarted.splice(index, 1);
    if (!call) return "a call starts that its answer does not have, or twice";
    const skipped = this.#unstarted.slice(0, index);
    const mayOvertake = this.#isOrdered && isUnordered(call);
    const isInOrder = skipped.every((other) => mayOvertake && !isUnordered(other));
    const isBlocked = this.#isOrdered && this.#executing.some((other) => mustWait(call, other));
    this.#executing.push(call);
    if (!isInOrder) return "a call starts before one that comes before it in the answer";
    return isBlocked ? "a call starts before one that it has to wait for has ended" : undefined;
  }

  end({ toolCallId, toolName }: { toolCallId: string; toolName: string }): void {
    this.#executing.splice(
      this.#executing.findIndex(({ id, name }) => id === toolCallId && name === toolName),
      1,
    );
  }
}

/** The calls of tools that have not ended, with the call that each was made in. */
class NestedCalls {
  readonly #parents = new Map<string, string>();

  /** Returns the law that the start violates, if it does. */
  start(id: string, parentId: string, isExecuting: boolean): string | undefined {
    if (this.#parents.has(id)) return "two nested calls share an id";
    this.#parents.set(id, parentId);
    return isExecuting ? undefined : "a nested call starts whose parent is not executing";
  }

  end = (id: string): boolean => this.#parents.delete(id);

  has = (id: string): boolean => this.#parents.has(id);

  hasParent = (parentId: string): boolean => [...this.#parents.values()].includes(parentId);
}

const isUnordered = ({ name }: ToolCall) => name === toolNames.unordered;

/** Whether `call` may start only after `other`, which started before it, has ended. */
const mustWait = (call: ToolCall, other: ToolCall) =>
  !isUnordered(call) && !isUnordered(other) && (call.name !== toolNames.read || other.name !== toolNames.read);

/** Every `_start` has its `_end`, inner ones end first, and `_end` events agree with the events before them. */
export function checkEvents(observation: Observation): void {
  const { events, script } = observation;
  let isRunning = false;
  let isInTurn = false;
  let openMessage: AgentMessage | undefined;
  let answer: AssistantMessage | undefined;
  let openCalls = new OpenCalls([], script);
  const nestedCalls = new NestedCalls();
  const isOpen = (toolCallId: string) => nestedCalls.has(toolCallId) || openCalls.isExecuting({ toolCallId });
  let ended: string[] = [];
  let results: AgentMessage[] = [];
  let messages: AgentMessage[] = [];
  for (const [index, event] of events.entries()) {
    const check = (holds: boolean, violation: string) => observation.check(holds, violation, index);
    check(isRunning !== (event.type === "agent_start"), "an event outside of a run, or a run in a run");
    switch (event.type) {
      case "agent_start":
        isRunning = true;
        messages = [];
        break;
      case "agent_end":
        check(!isInTurn, "a run ends in the middle of a turn");
        check(isSame(event.messages, messages), "agent_end has other messages than the events before it");
        isRunning = false;
        break;
      case "turn_start":
        check(!isInTurn, "a turn starts in a turn");
        isInTurn = true;
        answer = undefined;
        results = [];
        break;
      case "turn_end":
        check(isInTurn && !openMessage, "a turn ends that did not start, or with an open message");
        check(event.message === answer, "a turn ends with another answer than its own, or without one");
        check(isSame(event.toolResults, results), "turn_end has other results than the events before it");
        check(openCalls.isEmpty && ended.length === 0, "a turn ends with an open call");
        isInTurn = false;
        break;
      case "message_start":
        check(!openMessage, "a message starts in a message");
        // Steering that was taken from its queue before the run was told to stop is reported after the turn.
        check(isInTurn || event.message.role === "user", "a message starts outside of a turn");
        openMessage = event.message;
        break;
      case "message_update":
        check(openMessage?.role === "assistant" && event.message === openMessage, "an update of no open answer");
        break;
      case "message_end": {
        const { message } = event;
        check(openMessage?.role === message.role, "a message ends that did not start");
        check(message.role === "assistant" || openMessage === message, "a message ends as another one");
        openMessage = undefined;
        messages.push(message);
        if (message.role === "toolResult") {
          check(ended.includes(message.toolCallId), "a result comes before its call has ended");
          ended.splice(ended.indexOf(message.toolCallId), 1);
          results.push(message);
        } else if (message.role === "assistant") {
          check(!answer, "a turn has two answers");
          answer = message;
          openCalls = new OpenCalls(isFailed(message) ? [] : getToolCalls(message), script);
          const reason = message.errorMessage ?? "";
          const isPlanned = isFailed(message) === plannedReasons.test(reason);
          check(isPlanned, isPlanned ? "" : `an answer fails without a planned reason: ${reason}`);
        }
        break;
      }
      case "tool_execution_start": {
        check(isInTurn && !openMessage, "a call starts in a message");
        const { toolCallId, parentToolCallId: parentId } = event;
        const violation =
          parentId === undefined ? openCalls.start(event) : nestedCalls.start(toolCallId, parentId, isOpen(parentId));
        check(violation === undefined, violation ?? "");
        break;
      }
      case "tool_execution_update":
        check(isOpen(event.toolCallId), "an update of a call that is not executing");
        break;
      case "tool_execution_end":
        if (event.parentToolCallId !== undefined) {
          check(nestedCalls.end(event.toolCallId), "a nested call ends that did not start, or twice");
          check(!nestedCalls.hasParent(event.toolCallId), "a call ends before one that was made in it");
          break;
        }
        check(openCalls.isExecuting(event), "a call ends that did not start");
        openCalls.end(event);
        // Two calls may share an id: those that one of them made may be open when the other ends.
        if (!openCalls.isExecuting(event))
          check(!nestedCalls.hasParent(event.toolCallId), "a call ends before one that was made in it");
        ended.push(event.toolCallId);
        if (answer?.stopReason === "length") check(event.isError, "a call of a truncated answer succeeds");
    }
  }
  observation.check(!isRunning, "a run has no agent_end");
}

/** Every queued message is reported once, or still waits, or was cleared; and none overtakes another. */
export function checkQueued(observation: Observation, isWaiting: (queued: Queued) => boolean): void {
  const reported = observation.events.filter((event) => event.type === "message_end").map(({ message }) => message);
  for (const queue of ["steering", "followUp"] as const) {
    const queued = observation.queued.filter((item) => item.queue === queue);
    for (const item of queued) {
      const times = reported.filter((message) => message === item.message).length;
      const holds = times === 1 ? !isWaiting(item) : times === 0 && (item.isCleared || isWaiting(item));
      observation.check(holds, "a queued message is lost, or reported twice", holds ? "" : `${queue}, ${times} times`);
    }
    const positions = queued.map(({ message }) => reported.indexOf(message)).filter((position) => position >= 0);
    const isInOrder = positions.every((position, nth) => nth === 0 || position > positions[nth - 1]!);
    observation.check(isInOrder, "a queued message was overtaken", queue);
  }
}

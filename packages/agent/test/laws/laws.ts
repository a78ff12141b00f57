/** What is looked at when a performance is over, and whenever the model is asked. */
import type { AssistantMessage } from "@tau/ai";
import type { AgentEvent, AgentMessage } from "../../src/types.ts";

/** Every reason for which a run of a script may fail. Anything else is a fault of the loop. */
export const plannedReasons = /boom from|was aborted|ended before its answer was complete/;

/** A message that the user sent while the agent was busy, or before. */
export interface Sent {
  message: AgentMessage;
  queue: "steering" | "followUp";
  /** Its queue was emptied before it was seen. */
  isCleared: boolean;
}

/** What a performance tells, and where it writes down what breaks a law. */
export interface Told {
  readonly events: readonly AgentEvent[];
  readonly sent: readonly Sent[];
  note(isFine: boolean, law: string, where?: string | number): void;
}

export const isSame = <T>(a: readonly T[], b: readonly T[]) =>
  a.length === b.length && a.every((one, at) => one === b[at]);

export const isFailed = ({ stopReason }: AssistantMessage) => stopReason === "error" || stopReason === "aborted";

export const getToolCalls = (message: AssistantMessage) => message.content.filter((block) => block.type === "toolCall");

/** Every answer that did not fail is followed by the outcomes of its calls, one each, in order; there are no others. */
export function checkTranscript(told: Told, messages: readonly AgentMessage[], where: string): void {
  const owed: string[] = [];
  for (const message of messages) {
    if (message.role === "toolResult") {
      told.note(owed.shift() === message.toolCallId, "there is an outcome that no call asked for", where);
      continue;
    }
    told.note(owed.length === 0, "a call lacks its outcome", where);
    owed.length = 0;
    if (message.role === "assistant" && !isFailed(message)) owed.push(...getToolCalls(message).map(({ id }) => id));
  }
  told.note(owed.length === 0, "a call lacks its outcome", where);
}

/** What starts, ends; what is inside, ends first; and what an end tells is what has happened. */
export function checkEvents(told: Told): void {
  const { events } = told;
  let isRunning = false;
  let isInTurn = false;
  let open: AgentMessage | undefined;
  let answer: AssistantMessage | undefined;
  let unstarted: string[] = [];
  let executing: string[] = [];
  let ended: string[] = [];
  let results: AgentMessage[] = [];
  let said: AgentMessage[] = [];
  const must = (isFine: boolean, law: string, at: number) => told.note(isFine, law, at);
  for (const [at, event] of events.entries()) {
    must(isRunning !== (event.type === "agent_start"), "an event outside of a run, or a run in a run", at);
    switch (event.type) {
      case "agent_start":
        isRunning = true;
        said = [];
        break;
      case "agent_end":
        must(!isInTurn, "a run ends in the middle of a turn", at);
        must(isSame(event.messages, said), "agent_end tells other messages than the events before it", at);
        isRunning = false;
        break;
      case "turn_start":
        must(!isInTurn, "a turn starts in a turn", at);
        isInTurn = true;
        answer = undefined;
        results = [];
        break;
      case "turn_end":
        must(isInTurn && !open, "a turn ends that did not start, or with an open message", at);
        must(event.message === answer, "a turn ends with another answer than its own, or without one", at);
        must(isSame(event.toolResults, results), "turn_end tells other outcomes than the events before it", at);
        must(unstarted.length + executing.length + ended.length === 0, "a turn ends with an open call", at);
        isInTurn = false;
        break;
      case "message_start":
        // Steering that was taken before the run was told to stop is said after its turn.
        must(
          !open && (isInTurn || event.message.role === "user"),
          "a message starts outside of a turn or in a message",
          at,
        );
        open = event.message;
        break;
      case "message_update":
        must(open?.role === "assistant" && event.message === open, "an update of no open answer", at);
        break;
      case "message_end": {
        const { message } = event;
        must(open?.role === message.role, "a message ends that did not start", at);
        must(message.role === "assistant" || open === message, "a message ends as another one", at);
        open = undefined;
        said.push(message);
        if (message.role === "toolResult") {
          must(ended.includes(message.toolCallId), "an outcome before its call has ended", at);
          ended.splice(ended.indexOf(message.toolCallId), 1);
          results.push(message);
        } else if (message.role === "assistant") {
          must(!answer, "a turn has two answers", at);
          answer = message;
          unstarted = isFailed(message) ? [] : getToolCalls(message).map(({ id }) => id);
          const reason = message.errorMessage ?? "";
          const isPlanned = isFailed(message) === plannedReasons.test(reason);
          must(isPlanned, isPlanned ? "" : `an answer fails for no reason: ${reason}`, at);
        }
        break;
      }
      case "tool_execution_start":
        must(isInTurn && !open, "a call starts in a message", at);
        must(unstarted.shift() === event.toolCallId, "a call starts that its answer did not ask for now", at);
        executing.push(event.toolCallId);
        break;
      case "tool_execution_update":
        must(executing.includes(event.toolCallId), "an update of a call that is not executing", at);
        break;
      case "tool_execution_end":
        must(executing.includes(event.toolCallId), "a call ends that did not start", at);
        executing.splice(executing.indexOf(event.toolCallId), 1);
        ended.push(event.toolCallId);
        if (answer?.stopReason === "length") must(event.isError, "a call of a cut answer succeeds", at);
    }
  }
  told.note(!isRunning, "a run has no agent_end");
}

/** Every message that was sent is said once, or waits, or was cleared; and none overtakes another. */
export function checkSent(told: Told, isWaiting: (sent: Sent) => boolean): void {
  const said = told.events.filter((event) => event.type === "message_end").map(({ message }) => message);
  for (const queue of ["steering", "followUp"] as const) {
    const sent = told.sent.filter((one) => one.queue === queue);
    for (const one of sent) {
      const times = said.filter((message) => message === one.message).length;
      const isFine = times === 1 ? !isWaiting(one) : times === 0 && (one.isCleared || isWaiting(one));
      told.note(isFine, "a queued message is lost, or said twice", isFine ? "" : `${queue}, ${times} times`);
    }
    const order = sent.map(({ message }) => said.indexOf(message)).filter((at) => at >= 0);
    told.note(
      order.every((at, nth) => nth === 0 || at > order[nth - 1]!),
      "a queued message was overtaken",
      queue,
    );
  }
}

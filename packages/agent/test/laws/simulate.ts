import { getEventListeners } from "node:events";
import type { AssistantMessage } from "@tau/ai";
import { afterAll, beforeAll } from "vitest";
import { Agent } from "../../src/agent.ts";
import { agentLoop, runAgentLoop, runAgentLoopContinue } from "../../src/agent-loop.ts";
import type { AgentContext, AgentEvent, AgentLoopConfig, AgentMessage } from "../../src/types.ts";
import { checkEvents, checkQueued, checkTranscript, isSame } from "./laws.ts";
import { type Choose, waitForQuiet } from "./scheduler.ts";
import { type Action, deepFreeze, model, type Script, user } from "./script.ts";
import { Simulation } from "./simulation.ts";

async function simulateLoop(simulation: Simulation): Promise<void> {
  const { script, scheduler } = simulation;
  const caller = new AbortController();
  const isContinued = script.api === "continue";
  const before = deepFreeze(isContinued ? [user("before")] : []);
  const prompts = deepFreeze(isContinued ? [] : [user("go"), user("and go")]);
  const context = Object.freeze({ systemPrompt: "", messages: before, tools: simulation.tools });
  const config: AgentLoopConfig = {
    ...simulation.hooks(),
    model,
    clock: scheduler.clock,
    ...(script.execution && { toolExecution: script.execution }),
  };
  simulation.transcript = [...before];
  simulation.signal = () => caller.signal;
  simulation.act = (action) => {
    if (action === "abort") caller.abort();
    if (action === "steer") simulation.queue("steering");
    if (action === "followUp") simulation.queue("followUp");
    if (action === "steer" || action === "followUp") simulation.waiting.push(simulation.queued.at(-1)!);
  };
  for (const action of script.actions ?? []) scheduler.add(action, () => simulation.act(action));
  const input = [context as AgentContext, Object.freeze(config)] as const;
  const sink = (event: AgentEvent) => simulation.handleEvent(event);
  const start = async (): Promise<AgentMessage[]> => {
    const { streamFn } = simulation;
    if (script.api === "continue") return await runAgentLoopContinue(...input, sink, caller.signal, streamFn);
    if (script.api === "sink") return await runAgentLoop(prompts, ...input, sink, caller.signal, streamFn);
    const stream = agentLoop(prompts, ...input, caller.signal, streamFn);
    for await (const event of stream) await simulation.handleEvent(event);
    return await stream.result();
  };
  let added: AgentMessage[] | undefined;
  const run = async () => {
    added = await start();
    simulation.isOver = true;
  };
  run().catch((error: unknown) => simulation.check(false, `the run rejects: ${String(error)}`));
  const unblock = () => {
    const isRunning = !caller.signal.aborted;
    caller.abort();
    return isRunning;
  };
  await scheduler.drive(() => added !== undefined, unblock);
  const result = JSON.stringify(added);
  simulation.check(
    isSame([...before, ...added!], simulation.transcript),
    "the run returns other messages than its events reported",
  );
  for (const { copy } of simulation.requests) {
    const reported = simulation.transcript.slice(0, copy.length);
    simulation.check(isSame(copy, reported), "a request differs from what the events reported");
  }
  checkTranscript(simulation, added!, "the result");
  await scheduler.drain();
  simulation.check(JSON.stringify(added) === result, "a message changed after the run had ended");
  simulation.check(
    isSame([...before, ...added!], simulation.transcript),
    "a message was added after the run had ended",
  );
  const listeners = caller.signal.aborted ? 0 : getEventListeners(caller.signal, "abort").length;
  simulation.check(listeners <= simulation.abortListeners, "the run still listens to its caller's signal");
  checkQueued(simulation, (queued) => simulation.waiting.includes(queued));
}

async function simulateAgent(simulation: Simulation): Promise<void> {
  const { script, scheduler } = simulation;
  const { queues = "one-at-a-time" } = script;
  const initial = Object.freeze([]) as unknown as AgentMessage[];
  const agent = new Agent({
    ...simulation.hooks(),
    initialState: { model, messages: initial, tools: simulation.tools },
    streamFn: simulation.streamFn,
    steeringMode: queues,
    followUpMode: queues,
    clock: scheduler.clock,
    ...(script.execution && { toolExecution: script.execution }),
  });
  const checkState = (when: string) => {
    const { state } = agent;
    simulation.check(
      isSame(state.messages, simulation.transcript),
      "the state has other messages than the events reported",
      when,
    );
    simulation.check(
      state.errorMessage === simulation.errorMessage,
      "the state has another error than the events reported",
      when,
    );
    const { pendingToolCalls } = state;
    const isPending = simulation.openCalls.every((id) => pendingToolCalls.has(id));
    const isReported = [...pendingToolCalls].every((id) => simulation.openCalls.includes(id));
    simulation.check(isPending && isReported, "other calls are pending than the events reported", when);
  };
  const received: AgentEvent[] = [];
  agent.subscribe((event, signal) => simulation.handleEvent(event, signal));
  agent.subscribe((event) => {
    received.push(event);
    simulation.check(agent.state.isStreaming, "the agent is not streaming while it delivers an event");
    checkState(event.type);
  });
  simulation.signal = () => agent.signal;

  let unsettled = 0;
  const track = (run: Promise<void>, mayRefuse: (code: string) => boolean) => {
    unsettled++;
    const settle = (code?: string) => {
      unsettled--;
      const holds = code === undefined ? !mayRefuse("busy") : mayRefuse(code);
      simulation.check(holds, "a prompt is refused without reason, or accepted against a reason", code);
    };
    run.then(
      () => settle(),
      (error: unknown) => settle((error as { code?: string }).code ?? String(error)),
    );
  };
  const checkIdle = () => {
    simulation.check(!agent.state.isStreaming && !agent.signal, "waitForIdle resolves while the agent is busy");
  };
  const wait = async () => {
    unsettled++;
    await agent.waitForIdle();
    unsettled--;
    checkIdle();
  };
  const clear = () => {
    for (const queued of simulation.queued) queued.isCleared = true;
  };
  const actions: Record<Action, () => void> = {
    abort: () => agent.abort(),
    steer: () => agent.steer(simulation.queue("steering")),
    interrupt: () => agent.steer(simulation.queue("steering"), { interrupt: true }),
    followUp: () => agent.followUp(simulation.queue("followUp")),
    clear: () => {
      clear();
      agent.clearAllQueues();
    },
    reset: () => {
      const { isStreaming } = agent.state;
      clear();
      agent.reset();
      simulation.reset(isStreaming);
    },
    prompt: () => {
      const isBusy = agent.state.isStreaming;
      track(agent.prompt([user("more")]), (code) => isBusy && code === "busy");
    },
    continue: () => {
      const isBusy = agent.state.isStreaming;
      track(agent.continue(), (code) => (isBusy ? code === "busy" : code === "nothing_to_continue"));
    },
    wait: () => void wait(),
  };
  simulation.act = (action) => actions[action]();
  let actionsLeft = script.actions?.length ?? 0;
  for (const action of script.actions ?? []) {
    scheduler.add(action, () => {
      actionsLeft--;
      simulation.act(action);
    });
  }
  track(agent.prompt(deepFreeze([user("go")])), () => false);
  void wait();
  const unblock = () => {
    const isRunning = agent.signal?.aborted === false;
    agent.abort();
    return isRunning;
  };
  await scheduler.drive(() => unsettled === 0 && actionsLeft === 0, unblock);
  const checkIdleState = (when: string) => {
    checkState(when);
    checkIdle();
    simulation.check(agent.state.streamingMessage === undefined, "a message is streaming", when);
    simulation.check(agent.state.pendingToolCalls.size === 0, "a call is pending", when);
    checkTranscript(simulation, agent.state.messages, "the transcript");
  };
  checkIdleState("when idle");
  const transcript = JSON.stringify(agent.state.messages);
  simulation.isOver = true;
  await scheduler.drain();
  simulation.check(JSON.stringify(agent.state.messages) === transcript, "a message changed after the run had ended");
  checkIdleState("after the run had ended");

  simulation.isOver = false;
  simulation.ignoresScript = true;
  track(agent.prompt([user("again")]), () => false);
  await scheduler.drive(
    () => unsettled === 0,
    () => false,
  );
  checkIdleState("when idle again");
  const last = agent.state.messages.at(-1) as AssistantMessage;
  simulation.check(
    last.stopReason === "stop" && simulation.errorMessage === undefined,
    "the agent cannot be prompted again",
  );
  simulation.check(!agent.hasQueuedMessages(), "the agent is idle, and a message waits");
  simulation.check(isSame(received, simulation.events), "two listeners received different events");
  checkQueued(simulation, () => false);
}

const unhandled: unknown[] = [];
const onUnhandled = (reason: unknown) => unhandled.push(reason);
beforeAll(() => void process.on("unhandledRejection", onUnhandled));
afterAll(() => void process.off("unhandledRejection", onUnhandled));

/** Runs a script in one order and checks the laws. */
export async function simulate(script: Script, choose: Choose): Promise<void> {
  const simulation = new Simulation(deepFreeze(script), choose);
  try {
    await (script.api === "agent" ? simulateAgent(simulation) : simulateLoop(simulation));
  } catch (error) {
    simulation.violations.push(String(error));
  }
  await waitForQuiet();
  checkEvents(simulation);
  simulation.check(simulation.openNestedCalls === 0, "a nested call has no outcome");
  const isUnchanged = simulation.requests.every(({ messages, copy }) => isSame(messages, copy));
  simulation.check(isUnchanged, "the messages of a request have changed");
  simulation.check(simulation.scheduler.clock.waiting === 0, "a timer is left");
  simulation.check(unhandled.splice(0).length === 0, "a rejection is unhandled");
  const { taken } = simulation.scheduler;
  if (simulation.violations.length === 0) return;
  throw new Error(
    [
      ...new Set(simulation.violations),
      `script: ${JSON.stringify(script)}`,
      `order: ${taken.join(", ")}`,
      `events: ${simulation.events.map(({ type }) => type).join(", ")}`,
    ].join("\n"),
  );
}

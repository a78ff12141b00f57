import { getEventListeners } from "node:events";
import type { AssistantMessage } from "@tau/ai";
import { afterAll, beforeAll } from "vitest";
import { Agent } from "../../src/agent.ts";
import { agentLoop, runAgentLoop, runAgentLoopContinue } from "../../src/agent-loop.ts";
import type { AgentContext, AgentEvent, AgentLoopConfig, AgentMessage, AgentTool } from "../../src/types.ts";
import { checkEvents, checkSent, checkTranscript, isSame } from "./laws.ts";
import { type Choose, quiet } from "./scheduler.ts";
import { type Action, deepFreeze, model, type Script, user } from "./script.ts";
import { Stage } from "./stage.ts";

async function playLoop(stage: Stage): Promise<void> {
  const { script, scheduler } = stage;
  const caller = new AbortController();
  const isContinued = script.face === "continue";
  const before = deepFreeze(isContinued ? [user("before")] : []);
  const prompts = deepFreeze(isContinued ? [] : [user("go"), user("and go")]);
  const context = Object.freeze({ systemPrompt: "", messages: before, tools: Object.freeze([stage.tool]) });
  const config: AgentLoopConfig = {
    ...stage.hooks(),
    model,
    clock: scheduler.clock,
    ...(script.execution && { toolExecution: script.execution }),
  };
  stage.said = [...before];
  stage.signal = () => caller.signal;
  stage.act = (action) => {
    if (action === "abort") caller.abort();
    if (action === "steer") stage.send("steering");
    if (action === "followUp") stage.send("followUp");
    if (action === "steer" || action === "followUp") stage.queued.push(stage.sent.at(-1)!);
  };
  for (const action of script.actions ?? []) scheduler.add(action, () => stage.act(action));
  const given = [context as AgentContext, Object.freeze(config)] as const;
  const sink = (event: AgentEvent) => stage.hear(event);
  const start = async (): Promise<AgentMessage[]> => {
    if (script.face === "continue") return await runAgentLoopContinue(...given, sink, caller.signal, stage.streamFn);
    if (script.face === "sink") return await runAgentLoop(prompts, ...given, sink, caller.signal, stage.streamFn);
    const stream = agentLoop(prompts, ...given, caller.signal, stage.streamFn);
    for await (const event of stream) await stage.hear(event);
    return await stream.result();
  };
  let added: AgentMessage[] | undefined;
  const run = async () => {
    added = await start();
    stage.isOver = true;
  };
  run().catch((error: unknown) => stage.note(false, `the run rejects: ${String(error)}`));
  const unstick = () => {
    const can = !caller.signal.aborted;
    caller.abort();
    return can;
  };
  await scheduler.drive(() => added !== undefined, unstick);
  const told = JSON.stringify(added);
  stage.note(isSame([...before, ...added!], stage.said), "the run returns other messages than its events told");
  for (const { asked } of stage.requests) {
    stage.note(isSame(asked, stage.said.slice(0, asked.length)), "a request differs from what the events told");
  }
  checkTranscript(stage, added!, "the result");
  await scheduler.drain();
  stage.note(JSON.stringify(added) === told, "a message changed after the run was over");
  stage.note(isSame([...before, ...added!], stage.said), "a message was added after the run was over");
  const left = caller.signal.aborted ? 0 : getEventListeners(caller.signal, "abort").length;
  stage.note(left <= stage.watching, "the run still listens to its caller's signal");
  checkSent(stage, (one) => stage.queued.includes(one));
}

async function playAgent(stage: Stage): Promise<void> {
  const { script, scheduler } = stage;
  const { queues = "one-at-a-time" } = script;
  const initial = Object.freeze([]) as unknown as AgentMessage[];
  const agent = new Agent({
    ...stage.hooks(),
    initialState: { model, messages: initial, tools: Object.freeze([stage.tool]) as unknown as AgentTool[] },
    streamFn: stage.streamFn,
    steeringMode: queues,
    followUpMode: queues,
    clock: scheduler.clock,
    ...(script.execution && { toolExecution: script.execution }),
  });
  const checkState = (when: string) => {
    const { state } = agent;
    stage.note(isSame(state.messages, stage.said), "the state has other messages than the events tell", when);
    stage.note(state.errorMessage === stage.error, "the state has another error than the events tell", when);
    const { pendingToolCalls } = state;
    const isTold = stage.openCalls.every((id) => pendingToolCalls.has(id));
    const isPending = [...pendingToolCalls].every((id) => stage.openCalls.includes(id));
    stage.note(isTold && isPending, "other calls are pending than the events tell", when);
  };
  const heard: AgentEvent[] = [];
  agent.subscribe((event, signal) => stage.hear(event, signal));
  agent.subscribe((event) => {
    heard.push(event);
    stage.note(agent.state.isStreaming, "the agent is not streaming while it tells an event");
    checkState(event.type);
  });
  stage.signal = () => agent.signal;

  let unsettled = 0;
  const track = (started: Promise<void>, mayRefuse: (code: string) => boolean) => {
    unsettled++;
    const settle = (code?: string) => {
      unsettled--;
      stage.note(code === undefined ? !mayRefuse("busy") : mayRefuse(code), "a start is refused, or is not", code);
    };
    started.then(
      () => settle(),
      (error: unknown) => settle((error as { code?: string }).code ?? String(error)),
    );
  };
  const checkIdle = () => {
    stage.note(!agent.state.isStreaming && !agent.signal, "waitForIdle resolves while the agent is busy");
  };
  const wait = async () => {
    unsettled++;
    await agent.waitForIdle();
    unsettled--;
    checkIdle();
  };
  const clear = () => {
    for (const one of stage.sent) one.isCleared = true;
  };
  const deeds: Record<Action, () => void> = {
    abort: () => agent.abort(),
    steer: () => agent.steer(stage.send("steering")),
    interrupt: () => agent.steer(stage.send("steering"), { interrupt: true }),
    followUp: () => agent.followUp(stage.send("followUp")),
    clear: () => {
      clear();
      agent.clearAllQueues();
    },
    reset: () => {
      const { isStreaming } = agent.state;
      clear();
      agent.reset();
      stage.forget(isStreaming);
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
  stage.act = (action) => deeds[action]();
  let unacted = script.actions?.length ?? 0;
  for (const action of script.actions ?? []) {
    scheduler.add(action, () => {
      unacted--;
      stage.act(action);
    });
  }
  track(agent.prompt(deepFreeze([user("go")])), () => false);
  void wait();
  const unstick = () => {
    const can = agent.signal?.aborted === false;
    agent.abort();
    return can;
  };
  await scheduler.drive(() => unsettled === 0 && unacted === 0, unstick);
  const checkRest = (when: string) => {
    checkState(when);
    checkIdle();
    stage.note(agent.state.streamingMessage === undefined, "a message is streaming", when);
    stage.note(agent.state.pendingToolCalls.size === 0, "a call is pending", when);
    checkTranscript(stage, agent.state.messages, "the transcript");
  };
  checkRest("when idle");
  const told = JSON.stringify(agent.state.messages);
  stage.isOver = true;
  await scheduler.drain();
  stage.note(JSON.stringify(agent.state.messages) === told, "a message changed after the run was over");
  checkRest("after the run was over");

  stage.isOver = false;
  stage.isCalm = true;
  track(agent.prompt([user("again")]), () => false);
  await scheduler.drive(
    () => unsettled === 0,
    () => false,
  );
  checkRest("when idle again");
  const last = agent.state.messages.at(-1) as AssistantMessage;
  stage.note(last.stopReason === "stop" && stage.error === undefined, "the agent cannot be prompted again");
  stage.note(!agent.hasQueuedMessages(), "the agent is idle, and a message waits");
  stage.note(isSame(heard, stage.events), "two listeners heard different things");
  checkSent(stage, () => false);
}

const unhandled: unknown[] = [];
const onUnhandled = (reason: unknown) => unhandled.push(reason);
beforeAll(() => void process.on("unhandledRejection", onUnhandled));
afterAll(() => void process.off("unhandledRejection", onUnhandled));

/** Plays a script in one order and holds it against the laws. */
export async function play(script: Script, choose: Choose): Promise<void> {
  const stage = new Stage(deepFreeze(script), choose);
  try {
    await (script.face === "agent" ? playAgent(stage) : playLoop(stage));
  } catch (error) {
    stage.broken.push(String(error));
  }
  await quiet();
  checkEvents(stage);
  const isKept = stage.requests.every(({ given, asked }) => isSame(given, asked));
  stage.note(isKept, "what the model was given has changed");
  stage.note(stage.scheduler.clock.waiting === 0, "a timer is left");
  stage.note(unhandled.splice(0).length === 0, "a rejection is unhandled");
  const { taken } = stage.scheduler;
  if (stage.broken.length === 0) return;
  const heard = stage.events.map(({ type }) => type).join(", ");
  throw new Error(
    `${[...new Set(stage.broken)].join("\n")}\nscript: ${JSON.stringify(script)}\norder: ${taken.join(", ")}\nheard: ${heard}`,
  );
}

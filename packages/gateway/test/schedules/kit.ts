/** A gateway with a clock that only the test moves. */
import { createFakeClock, type FakeClock, type ScriptedModel } from "@tau/ai/testing";
import type { SettingsInput } from "@tau/config/settings";
import type { ScheduleData, ScheduleRunData } from "@tau/protocol/gateway";
import { expect } from "vitest";
import { openTestGateway, type TestGateway } from "../../src/testing/index.ts";

export const startMs = Date.parse("2026-01-15T12:00:00Z");
export const minute = 60_000;

interface OpenOptions {
  model: ScriptedModel;
  clock?: FakeClock;
  gateway?: SettingsInput["gateway"];
  /** The directory of a gateway that was stopped. */
  agentDir?: string;
}

export interface ScheduleGateway extends TestGateway {
  clock: FakeClock;
}

export async function openScheduleGateway(given: OpenOptions): Promise<ScheduleGateway> {
  const { model, clock = createFakeClock(startMs), gateway, agentDir } = given;
  const opened = await openTestGateway({
    model,
    settings: { gateway },
    options: { clock, ...(agentDir !== undefined && { agentDir }) },
    ...(agentDir !== undefined && { params: { agentDir } }),
  });
  return { ...opened, ...(agentDir !== undefined && { agentDir }), clock };
}

export const add = ({ gateway, workspace }: TestGateway, draft: object): Promise<ScheduleData> =>
  gateway.parts.schedules.add({ prompt: "Look.", cwd: workspace, rights: {}, ...draft } as never);

export const listRuns = ({ gateway }: TestGateway, scheduleId?: string): Promise<ScheduleRunData[]> =>
  gateway.parts.schedules.listRuns({ scheduleId, limit: 100 });

/** Lets timers fire that were set for a moment that is over: looking at the disk takes longer than the clock of the test. */
export const fireOverdue = ({ gateway }: TestGateway): Promise<void> => (gateway.parts.clock as FakeClock).advance(0);

/** Waits until so many runs are over, and returns all. */
export async function waitForRuns(opened: TestGateway, count: number): Promise<ScheduleRunData[]> {
  const countOver = async () => {
    await fireOverdue(opened);
    return (await listRuns(opened)).filter(({ state }) => state !== "running").length;
  };
  await expect.poll(countOver).toBe(count);
  return await listRuns(opened);
}

/** The messages that a model was asked with, as texts. */
export const getAsked = (model: ScriptedModel, turn: number): string =>
  JSON.stringify(model.asked[turn]?.context.messages);

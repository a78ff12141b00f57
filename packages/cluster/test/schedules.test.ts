/** Schedules that two gateways of a cluster share. */
import { scriptedModel, type ScriptedTurn, text } from "@tau/ai/testing";
import type { ScheduleData, ScheduleRunData } from "@tau/protocol/gateway";
import { describe, expect, test } from "vitest";
import { type GatewayNode, useCluster } from "./kit.ts";
import { hasNats } from "./nats-servers.ts";

const listRuns = async ({ client }: GatewayNode, id: string): Promise<ScheduleRunData[]> =>
  (await client.must<{ runs: ScheduleRunData[] }>("schedules.runs", { id })).runs;

const list = async ({ client }: GatewayNode): Promise<ScheduleData[]> =>
  (await client.must<{ schedules: ScheduleData[] }>("schedules.list")).schedules;

describe.skipIf(!hasNats)("schedules of a cluster", () => {
  const kit = useCluster();

  /** A model that writes down for which times it was asked. */
  const createModel = (asked: string[], answer: () => Promise<void> = async () => {}) => {
    const turn: ScriptedTurn = async ({ messages }) => {
      asked.push(/due at (\S+Z)/.exec(JSON.stringify(messages))?.[1] ?? "");
      await answer();
      return [text("Done.")];
    };
    return scriptedModel(Array.from({ length: 200 }, () => turn));
  };

  test("each run begins at one of the nodes, which all know the schedule and its runs", async () => {
    const asked: string[] = [];
    const [one, two] = await Promise.all([
      kit.openGateway("one", createModel(asked)),
      kit.openGateway("two", createModel(asked)),
    ]);
    const { id } = await one.client.must<ScheduleData>("schedules.add", {
      cron: "* * * * * *",
      prompt: "Go.",
      cwd: kit.workspace,
    });
    await expect.poll(async () => (await list(two)).map((schedule) => schedule.id)).toContain(id);
    await expect
      .poll(async () => (await listRuns(two, id)).filter(({ state }) => state === "done").length)
      .toBeGreaterThan(5);
    await two.client.must("schedules.pause", { id });
    await expect.poll(async () => (await list(one)).find((schedule) => schedule.id === id)?.state).toBe("paused");
    const runs = await listRuns(one, id);
    expect(runs.map((run) => run.id)).toEqual([...new Set(runs.map((run) => run.id))]);
    expect(asked).toEqual([...new Set(asked)]);
    expect(runs.filter(({ state }) => state === "done").length).toBeLessThanOrEqual(asked.length);
    await one.client.must("schedules.remove", { id });
    await expect.poll(async () => (await list(two)).map((schedule) => schedule.id)).not.toContain(id);
  });

  test("what a node that is lost had begun is reported by another one, which does not repeat it", async () => {
    const asked: string[] = [];
    const never = () => new Promise<void>(() => {});
    const one = await kit.openGateway("one", createModel(asked, never));
    const { id } = await one.client.must<ScheduleData>("schedules.add", {
      at: "1s",
      prompt: "Go.",
      cwd: kit.workspace,
    });
    await expect.poll(() => asked.length).toBe(1);
    const two = await kit.openGateway("two", createModel(asked));
    expect(await listRuns(two, id)).toMatchObject([{ state: "running" }]);
    one.cable.cut();
    const { schedules } = two.gateway.parts;
    const getState = async () => {
      // It would look each minute.
      await schedules.wake();
      return (await listRuns(two, id))[0]?.state;
    };
    await expect.poll(getState, { timeout: 60_000, interval: 500 }).toBe("cut");
    const next = await two.client.must<ScheduleData>("schedules.add", { at: "1s", prompt: "Go.", cwd: kit.workspace });
    await expect.poll(async () => (await listRuns(two, next.id))[0]?.state).toBe("done");
    expect(asked).toEqual([...new Set(asked)]);
    expect(asked).toHaveLength(2);
  });
});

import { call, text } from "@tau/ai/testing";
import { connectRaw } from "@tau/gateway/testing";
import { expect, onTestFinished, test } from "vitest";
import type { Shared } from "../kit.ts";

export function listCases(shared: Shared): void {
  test("the list shows what happens in sessions that are not shown, and their names turn nothing around", async () => {
    const { page, gateway, token, workspace } = await shared.begin(
      [call("read", { path: "/etc/os-release" })],
      [text("Read.")],
    );
    const client = await connectRaw(gateway.url, { token, connect: { abilities: { approvals: true } } });
    onTestFinished(() => client.close());
    const list = page.getByRole("list", { name: "Sessions" });
    const name = "Elsewhere \u202egnp.exe\u0007";
    const { sessionId } = await client.must<{ sessionId: string }>("sessions.create", { cwd: workspace, name });
    const item = list.getByRole("button", { name: "Elsewhere \ufffdgnp.exe\ufffd" });
    await item.waitFor();
    await client.must("sessions.subscribe", { sessionId });
    await client.must("session.prompt", { sessionId, message: "Read it." });
    await item.getByText("1 question").waitFor();
    const { approvals } = await client.must<{ approvals: { approval: { id: string } }[] }>("approvals.list");
    await client.must("session.approve", { sessionId, approvalId: approvals[0]!.approval.id, decision: "deny" });
    await item.getByText("1 question").waitFor({ state: "detached" });
    await item.getByText("idle").waitFor({ state: "attached" });
    await client.must("session.set_session_name", { sessionId, name: "Renamed" });
    await list.getByText("Renamed").waitFor();
    expect(await page.getByRole("heading", { level: 1 }).textContent()).not.toContain("Renamed");
  });
}

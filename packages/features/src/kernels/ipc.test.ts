import { expect, test } from "vitest";
import { IpcChannel, KernelId, type KernelMessage } from "./ipc.ts";

const message = (id: number): KernelMessage => ({ type: "PythonExec", payload: { code: "1", id } });

test("what one end sends the other receives, in order and both ways", async () => {
  const [a, b] = IpcChannel(2);
  await a.send(message(1));
  await a.send(message(2));
  const back: KernelMessage = { type: "ToolResult", payload: { to: KernelId.Bun, id: 7, result: { value: null } } };
  await b.send(back);
  expect([await b.recv(), await b.recv(), await a.recv()]).toEqual([message(1), message(2), back]);
});

test("a full direction lets the sender wait", async () => {
  const [a, b] = IpcChannel(1);
  await a.send(message(1));
  let isSent = false;
  const sending = a.send(message(2)).then(() => (isSent = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(isSent).toBe(false);
  expect(await b.recv()).toEqual(message(1));
  await sending;
  expect(await b.recv()).toEqual(message(2));
});

test("after the end nothing can be sent, and what was sent is still received", async () => {
  const [a, b] = IpcChannel(1);
  const waiting = a.recv();
  await a.send(message(1));
  const blocked = a.send(message(2)).catch((error: unknown) => error);
  b.close();
  expect(await blocked).toMatchObject({ name: "KernelError", kind: "ended" });
  expect(await waiting).toBeUndefined();
  await expect(a.send(message(3))).rejects.toThrow("closed");
  expect([await b.recv(), await b.recv()]).toEqual([message(1), undefined]);
});

test("a channel without space is refused", () => {
  expect(() => IpcChannel(0)).toThrow(RangeError);
});

/** Sockets that a process hands over, with processes that fail at it. */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { expect, onTestFinished, test } from "vitest";
import { HandedSockets } from "./inner-sockets.ts";

/** Runs JavaScript in a process that gets each request as a message. */
function openSockets(script: string) {
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return { child, sockets: new HandedSockets(child, child.pid!, (request) => void child.send(request)) };
}

const answer = (text: string) => `process.on("message", ({ id }) => process.send(${text}))`;

test.each([
  ["an error of the system", answer(`{ id, error: ${constants.errno.EADDRINUSE} }`), "EADDRINUSE"],
  ["no socket", answer("{ id }"), "The process that opens sockets in the sandbox has ended."],
  [
    "its end",
    `process.once("message", () => process.exit())`,
    "The process that opens sockets in the sandbox has ended.",
  ],
  [
    "a socket of the other kind",
    `process.on("message", ({ id, listens }) => {
      const server = require("node:net").createServer().listen(0, "127.0.0.1", () => {
        if (!listens) return process.send({ id }, server);
        const socket = require("node:net").connect(server.address().port, "127.0.0.1", () => process.send({ id }, socket));
      });
    })`,
    /^The sandbox did not hand over a (?:server|connection)\.$/,
  ],
])("a process that answers with %s makes both requests fail as unavailable", async (_name, script, message) => {
  for (const method of ["listen", "connect"] as const) {
    const { sockets } = openSockets(script);
    await expect(sockets[method](1)).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(message),
    });
  }
});

test("a process that is gone is not asked", async () => {
  const { child, sockets } = openSockets("");
  await new Promise((resolve) => child.once("exit", resolve));
  await expect.poll(() => child.connected).toBe(false);
  await expect(sockets.listen(0)).rejects.toMatchObject({ code: "unavailable" });
});
